package import KelvinGraph

/// The positions at which a resized axis reads its source: output position `i` reads coordinate `scale * i + offset`.
///
/// With `n` source elements, `m` results and the ratio `n / m`, or one over the factor that the source names, the
/// conventions are: half pixel `(i + 1/2) * ratio - 1/2`, asymmetric `i * ratio`, aligned corners
/// `i * (n - 1) / (m - 1)`.
package struct Sampling: Hashable {
  package var scale: Double
  package var offset: Double
  /// The tolerance of coordinates, which depends on the precision of their inputs.
  package var slack = 1e-9

  package init(scale: Double, offset: Double, slack: Double = 1e-9) {
    self.scale = scale
    self.offset = offset
    self.slack = slack
  }

  package static func halfPixel(_ ratio: Double) -> Sampling { Sampling(scale: ratio, offset: 0.5 * ratio - 0.5) }

  package static func asymmetric(_ ratio: Double) -> Sampling { Sampling(scale: ratio, offset: 0) }

  /// Returns a grid whose first and last result read the first and the last element; a single result reads `alone`.
  package static func alignedCorners(_ length: Int, _ size: Int, alone: Double = 0) -> Sampling {
    size > 1
      ? Sampling(scale: Double(length - 1) / Double(size - 1), offset: 0) : Sampling(scale: 0, offset: alone)
  }

  /// Returns those of `size` positions whose coordinates lie in an axis of `length` elements, within rounding errors.
  package func inside(_ length: Int, of size: Int) -> Range<Int> {
    let (least, most) = (-1e-9, Double(length - 1) + 1e-9)
    guard scale != 0 else { return (least...most).contains(offset) ? 0..<size : 0..<0 }
    let ends = [(least - offset) / scale, (most - offset) / scale].sorted()
    let first = max(Int(saturating: ends[0].rounded(.up)), 0)
    let last = min(Int(saturating: ends[1].rounded(.down)), size - 1)
    return first <= last ? first..<(last + 1) : 0..<0
  }

  /// Returns the coordinates of the positions from the given one on.
  package func from(_ position: Int) -> Sampling {
    Sampling(scale: scale, offset: offset + scale * Double(position), slack: slack)
  }

  /// Returns the same coordinates with a tiny shift. Without it, rounding errors of `scale * i + offset` would decide
  /// ties between two elements, and whether a coordinate is an integer.
  package func settled(for rounding: Resize.Rounding) -> Sampling {
    switch rounding {
    case .floor, .halfUp: Sampling(scale: scale, offset: offset + slack)
    case .ceil, .halfDown: Sampling(scale: scale, offset: offset - slack)
    }
  }
}

extension Emitter {
  /// Resizes axes. An axis that keeps its size and whose coordinates are its positions is unchanged, and so is an empty
  /// one.
  package func resize(
    _ x: ValueID, _ axes: [(axis: Int, size: Int, sampling: Sampling)], _ interpolation: Resize.Interpolation,
    step: String? = nil
  ) throws -> ValueID {
    let source = shape(x)
    var resized: [ResizeAxis] = []
    for (axis, size, sampling) in axes.sorted(by: { $0.axis < $1.axis }) {
      if size == 0, source[axis] == 0 { continue }
      guard size > 0, source[axis] > 0, sampling.scale.isFinite, sampling.offset.isFinite else {
        throw invalid("axis \(axis) of \(type(x)) cannot be resized to \(size)")
      }
      if size == source[axis], sampling.offset == 0, sampling.scale == 1 || size == 1 { continue }
      let settled =
        switch interpolation {
        case .linear: sampling
        case .nearest(let rounding): sampling.settled(for: rounding)
        }
      resized.append(ResizeAxis(axis: axis, size: size, scale: settled.scale, offset: settled.offset))
    }
    return resized.isEmpty ? x : try add(Resize(axes: resized, interpolation: interpolation), x, step: step)
  }
}

extension Emitter {
  /// Rounds interpolated integers or booleans to the nearest integers.
  package func rounded(_ x: ValueID, to scalar: ScalarType) throws -> ValueID {
    try cast(try unary(UnaryFunction(.round), x, step: "rounded"), to: scalar)
  }
}

extension ScalarType {
  /// The type in which integers or booleans are interpolated.
  package var blended: ScalarType { byteCount >= 4 ? .float64 : .float32 }
}
