/// The window of a convolution or a pool, with one entry for each spatial axis.
package struct Window: Hashable, Sendable {
  package var kernel: [Int]
  package var strides: [Int]
  package var dilations: [Int]
  /// The number of padding elements before the first and after the last element.
  package var before: [Int]
  package var after: [Int]
  /// Whether a last window that only partly overlaps the padded input counts; it never starts beyond the input and its
  /// leading padding.
  package var roundsUp: Bool

  package init(
    kernel: [Int], strides: [Int]? = nil, dilations: [Int]? = nil, before: [Int]? = nil, after: [Int]? = nil,
    roundsUp: Bool = false
  ) {
    self.kernel = kernel
    self.strides = strides ?? kernel.map { _ in 1 }
    self.dilations = dilations ?? kernel.map { _ in 1 }
    self.before = before ?? kernel.map { _ in 0 }
    self.after = after ?? self.before
    self.roundsUp = roundsUp
  }

  package var rank: Int { kernel.count }
  package var count: Int { kernel.reduce(1, *) }

  /// Returns the output sizes for input sizes `spatial`: `floor((size + before + after - dilation * (kernel - 1) - 1) /
  /// stride) + 1`, or its ceiling.
  package func outputSizes(_ spatial: [Int]) throws(OperatorError) -> [Int] {
    let lists = [strides, dilations, before, after]
    guard rank > 0, lists.allSatisfy({ $0.count == rank }), spatial.count == rank else {
      throw OperatorError("window \(self): expected \(spatial.count) entries for each of its parts")
    }
    let limit = 1 << 31
    guard (kernel + strides + dilations).allSatisfy({ (1..<limit).contains($0) }),
      (before + after).allSatisfy({ (0..<limit).contains($0) }), spatial.allSatisfy({ (0..<limit).contains($0) })
    else { throw OperatorError("window \(self): sizes must be positive and below 2^31") }
    guard Shape(kernel).isAddressable else { throw OperatorError("window \(self) is too large") }
    var sizes: [Int] = []
    for axis in 0..<rank {
      let padded = spatial[axis] + before[axis] + after[axis]
      let reach = dilations[axis] * (kernel[axis] - 1) + 1
      guard padded >= reach else {
        throw OperatorError("window \(self) does not fit an input of \(Shape(spatial))")
      }
      let steps = padded - reach
      var size = (roundsUp ? (steps + strides[axis] - 1) : steps) / strides[axis] + 1
      if roundsUp, (size - 1) * strides[axis] >= spatial[axis] + before[axis] { size -= 1 }
      sizes.append(size)
    }
    return sizes
  }

  static let schema = AttributeSchema(
    Window(kernel: []), .required("kernel", \.kernel, "number of taps of each spatial axis"),
    .required("strides", \.strides, "distance of windows"),
    .optional("dilations", \.dilations, "distance of taps", "1 for each axis", default: { $0.kernel.map { _ in 1 } }),
    .optional(
      "before", \.before, "number of padding elements before the first element", "0 for each axis",
      default: { $0.kernel.map { _ in 0 } }),
    .optional(
      "after", \.after, "number of padding elements after the last element", "like `before`", default: { $0.before }),
    .optional(
      "rounds_up", \.roundsUp,
      "whether a last window counts that only partly overlaps the padded input"
    ))
}

extension Window: CustomStringConvertible {
  package var description: String {
    "\(Shape(kernel)) stride \(Shape(strides)) dilation \(Shape(dilations)) padding \(Shape(before)) and \(Shape(after))"
  }
}
