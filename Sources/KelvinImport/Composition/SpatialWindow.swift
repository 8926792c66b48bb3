package import KelvinGraph

/// The padding of the spatial axes of a convolution or a pool.
package enum SpatialPadding {
  case explicit(before: [Int], after: [Int])
  case none
  /// The amount that gives `ceil(size / stride)` results; an odd element goes to the end, or to the start.
  case same(oddAtEnd: Bool)
}

extension Window {
  /// Creates the window over the given sizes, with resolved padding.
  package init(
    kernel: [Int], strides: [Int]?, dilations: [Int]?, padding: SpatialPadding, roundsUp: Bool = false,
    over sizes: [Int]
  ) throws(OperatorError) {
    let ones = [Int](repeating: 1, count: kernel.count)
    let (strides, dilations) = (strides ?? ones, dilations ?? ones)
    guard strides.count == kernel.count, dilations.count == kernel.count, sizes.count == kernel.count else {
      throw OperatorError(
        "kernel \(kernel), strides \(strides) and dilations \(dilations) do not fit \(sizes.count) spatial axes")
    }
    guard (kernel + strides + dilations).allSatisfy({ (1..<(1 << 31)).contains($0) }),
      sizes.allSatisfy({ (0..<(1 << 31)).contains($0) })
    else { throw OperatorError("kernel \(kernel), strides \(strides), dilations \(dilations): expected 1 to 2^31 - 1") }
    var before = ones.map { _ in 0 }
    var after = before
    switch padding {
    case .none: break
    case .explicit(let first, let last): (before, after) = (first, last)
    case .same(let oddAtEnd):
      for axis in kernel.indices {
        let results = (sizes[axis] + strides[axis] - 1) / strides[axis]
        let reach = (kernel[axis] - 1) * dilations[axis] + 1
        let total = max(0, (results - 1) * strides[axis] + reach - sizes[axis])
        let (small, large) = (total / 2, total - total / 2)
        (before[axis], after[axis]) = oddAtEnd ? (small, large) : (large, small)
      }
    }
    self.init(
      kernel: kernel, strides: strides, dilations: dilations, before: before, after: after, roundsUp: roundsUp)
  }
}

extension Emitter {
  /// Returns the window over the spatial axes of `[N, C, …]`, with resolved padding.
  package func window(
    kernel: [Int], strides: [Int]?, dilations: [Int]?, padding: SpatialPadding, roundsUp: Bool = false, over x: ValueID
  ) throws -> Window {
    do {
      return try Window(
        kernel: kernel, strides: strides, dilations: dilations, padding: padding, roundsUp: roundsUp,
        over: Array(shape(x).dimensions.dropFirst(2)))
    } catch { throw invalid(error.description) }
  }
}

extension ConvolutionTranspose {
  /// Changes the padding so that the result has the wanted sizes.
  ///
  /// - Parameter cut: Returns the numbers of surplus elements to remove before and after, given their sum.
  package mutating func fit(_ wanted: [Int], over sizes: [Int], _ cut: (Int) -> (before: Int, after: Int)) {
    for axis in window.kernel.indices {
      let reach = window.dilations[axis] &* (window.kernel[axis] &- 1) &+ 1
      let full = window.strides[axis] &* (sizes[axis] &- 1) &+ reach &+ outputPadding[axis]
      let surplus = full &- window.before[axis] &- window.after[axis] &- wanted[axis]
      guard surplus >= 0 else {
        outputPadding[axis] &-= surplus
        continue
      }
      let (before, after) = cut(surplus)
      window.before[axis] &+= before
      window.after[axis] &+= after
    }
  }
}
