extension Tensor {
  /// Returns a range of positions along an axis.
  ///
  /// - Precondition: The range is within the axis.
  package func part(_ part: Part.Operand) -> Tensor {
    type.require(part)
    if let run = run(part) { return run }
    return bytes.withUnsafeBytes { Tensor(copying: part, of: $0, type) }
  }

  /// Copies a range of positions along an axis of elements in memory: dense, row-major, of a type.
  ///
  /// - Precondition: The range is within the axis.
  package init(copying part: Part.Operand, of source: UnsafeRawBufferPointer, _ whole: TensorType) {
    whole.require(part)
    let (shape, type) = (whole.shape, whole.part(part))
    let rows = shape.dimensions[..<part.axis].reduce(1, *)
    let inner = source.count / max(rows * shape[part.axis], 1)
    self.init(
      type,
      Bytes(count: type.byteCount) { target in
        for row in 0..<rows {
          let start = (row * shape[part.axis] + part.range.lowerBound) * inner
          UnsafeMutableRawBufferPointer(rebasing: target[(row * part.range.count * inner)...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + part.range.count * inner]))
        }
      })
  }

  /// Returns a range of positions without a copy if it is contiguous; otherwise nil.
  func run(_ part: Part.Operand) -> Tensor? {
    guard shape.dimensions[..<part.axis].allSatisfy({ $0 == 1 }) else { return nil }
    let inner = bytes.count / max(shape[part.axis], 1)
    return bytes.slice(offset: part.range.lowerBound * inner, count: part.range.count * inner)
      .map { Tensor(type.part(part), $0) }
  }
}

extension TensorType {
  fileprivate func require(_ part: Part.Operand) {
    precondition(
      part.range.lowerBound >= 0 && part.range.upperBound <= shape[part.axis], "\(part.range) of \(shape[part.axis])")
  }
}
