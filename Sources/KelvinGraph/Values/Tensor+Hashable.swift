/// Equality and hashing by type and by the bits of the elements.
extension Tensor: Hashable {
  package static func == (left: Tensor, right: Tensor) -> Bool {
    left.type == right.type
      && left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { left.elementsEqual($0) } }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
