import KelvinGraph

/// A value that is a length for each batch plus one number, traced back to the lengths.
struct ShiftedLengths {
  /// Integers of 32 or 64 bits, in the order of the batches.
  private(set) var lengths: ValueID
  var offset = 0

  private static let farthest = 1 << 30

  init?(_ value: ValueID, _ edits: GraphEdits) {
    lengths = value
    trace: while let node = edits.producer(of: lengths).flatMap(edits.node), let next = node.inputs.first {
      switch node.op {
      case is Reshape: lengths = next
      case is Cast where Self.isWide(edits.type(next).scalar) && Self.isWide(edits.type(lengths).scalar): lengths = next
      case let binary as Binary where binary.function == .add || binary.function == .subtract:
        let isSum = binary.function == .add
        guard let place = (isSum ? [1, 0] : [1]).first(where: { edits.weight(node.inputs[$0]) != nil }),
          let number = edits.number(node.inputs[place]), abs(number) <= Double(Self.farthest),
          edits.type(node.inputs[1 - place]).count == edits.type(lengths).count
        else { break trace }
        offset += isSum ? Int(number) : -Int(number)
        lengths = node.inputs[1 - place]
      default: break trace
      }
      guard abs(offset) <= Self.farthest else { return nil }
    }
    guard Self.isWide(edits.type(lengths).scalar) else { return nil }
  }

  private static func isWide(_ scalar: ScalarType) -> Bool { scalar == .int32 || scalar == .int64 }
}
