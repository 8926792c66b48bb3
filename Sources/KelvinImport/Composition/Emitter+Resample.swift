package import KelvinGraph

/// The weights of the elements around a coordinate, by their distance from it.
package struct ResampleFilter: Sendable {
  package enum Kind: Sendable {
    case linear
    /// Keys' cubic convolution with the coefficient `a`.
    case cubic(a: Double)
  }

  package var kind: Kind
  /// Whether the filter is stretched over all elements that one result represents.
  package var isAntialiased: Bool
  /// Whether elements outside have no weight; otherwise they count as the nearest element inside.
  package var excludesOutside: Bool

  package init(kind: Kind, isAntialiased: Bool, excludesOutside: Bool) {
    self.kind = kind
    self.isAntialiased = isAntialiased
    self.excludesOutside = excludesOutside
  }

  private var reach: Double { if case .linear = kind { 1 } else { 2 } }

  private func weight(_ distance: Double) -> Double {
    let x = abs(distance)
    switch kind {
    case .linear: return max(0, 1 - x)
    case .cubic(let a):
      if x <= 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
      return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0
    }
  }

  /// Returns the weight of each of `length` elements in each of `size` results.
  ///
  /// - Parameter ratio: The number of elements that one result represents.
  package func matrix(_ size: Int, _ length: Int, _ sampling: Sampling, ratio: Double) -> [Double] {
    let stretch = isAntialiased ? max(1, ratio) : 1
    var values = [Double](repeating: 0, count: size * length)
    for row in 0..<size {
      let coordinate = sampling.scale * Double(row) + sampling.offset
      let first = Int((coordinate - reach * stretch).rounded(.down)) + 1
      let last = max(Int((coordinate + reach * stretch).rounded(.up)) - 1, first)
      var total = 0.0
      for place in first...last {
        guard !excludesOutside || (0..<length).contains(place) else { continue }
        let weight = weight((Double(place) - coordinate) / stretch)
        values[row * length + min(max(place, 0), length - 1)] += weight
        total += weight
      }
      guard isAntialiased || excludesOutside, total != 0 else { continue }
      for place in 0..<length { values[row * length + place] /= total }
    }
    return values
  }
}

extension Emitter {
  /// Resizes axes with a filter, each by a product with a matrix.
  ///
  /// - Parameter ratios: For each axis, the number of elements that one result represents.
  package func resample(
    _ x: ValueID, _ axes: [(axis: Int, size: Int, sampling: Sampling)], ratios: [Double], _ filter: ResampleFilter
  ) throws -> ValueID {
    let rank = shape(x).rank
    var result = x
    for ((axis, size, sampling), ratio) in zip(axes, ratios) {
      let length = shape(result)[axis]
      if size == 0, length == 0 { continue }
      // A result that represents more elements than the axis has would read as many positions outside.
      guard size > 0, length > 0, sampling.scale.isFinite, abs(sampling.scale) < 0x1p31, sampling.offset.isFinite,
        abs(sampling.offset) < 0x1p31, ratio > 0, ratio <= 2 * Double(length)
      else { throw invalid("axis \(axis) of \(self.type(x)) cannot be resized to \(size)") }
      if size == length, sampling.offset == 0, sampling.scale == 1 { continue }
      var order = Array(0..<rank)
      order.swapAt(axis, rank - 1)
      let matrix = try table(scalar(x), [size, length], step: "weights_\(axis)") {
        filter.matrix(size, length, sampling, ratio: ratio)
      }
      let lines = try transpose(result, order, step: "lines_\(axis)")
      result = try transpose(
        add(Linear(), lines, matrix, step: "resized_lines_\(axis)"), order, step: "resized_\(axis)")
    }
    return result
  }
}
