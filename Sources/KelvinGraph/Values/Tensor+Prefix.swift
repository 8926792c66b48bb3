extension Tensor {
  /// The first elements along an axis.
  ///
  /// - Precondition: there are as many.
  package func prefix(_ count: Int, axis: Int) -> Tensor {
    let length = shape[axis]
    precondition((0...length).contains(count), "\(count) of \(length) elements")
    guard count < length else { return self }
    var type = type
    type.shape[axis] = count
    let rows = shape.dimensions[..<axis].reduce(1, *)
    let row = bytes.count / max(1, rows)
    let kept = type.byteCount / max(1, rows)
    return Tensor(
      type,
      Bytes(count: type.byteCount) { target in
        guard kept > 0 else { return }
        bytes.withUnsafeBytes { source in
          for index in 0..<rows {
            UnsafeMutableRawBufferPointer(rebasing: target[index * kept..<(index + 1) * kept])
              .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[index * row..<index * row + kept]))
          }
        }
      })
  }
}
