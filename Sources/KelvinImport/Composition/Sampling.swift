package import KelvinGraph

/// How a resized axis reads its source: output position `i` reads coordinate `scale * i + offset`.
///
/// The conventions, for `n` source elements and `m` results, `ratio` being `n / m` or one over the factor that the
/// source names: half pixel `(i + 1/2) * ratio - 1/2`, asymmetric `i * ratio`, aligned corners `i * (n - 1) / (m - 1)`.
package struct Sampling: Hashable {
  package var scale: Double
  package var offset: Double
  /// How far coordinates may be off because of what they are computed from.
  package var slack = 1e-9

  package init(scale: Double, offset: Double, slack: Double = 1e-9) {
    self.scale = scale
    self.offset = offset
    self.slack = slack
  }

  package static func halfPixel(_ ratio: Double) -> Sampling { Sampling(scale: ratio, offset: 0.5 * ratio - 0.5) }

  package static func asymmetric(_ ratio: Double) -> Sampling { Sampling(scale: ratio, offset: 0) }

  /// The first and the last result read the first and the last element; a single result reads `alone`.
  package static func alignedCorners(_ length: Int, _ size: Int, alone: Double = 0) -> Sampling {
    size > 1
      ? Sampling(scale: Double(length - 1) / Double(size - 1), offset: 0) : Sampling(scale: 0, offset: alone)
  }

  /// The positions, of so many, whose coordinates lie in an axis of `length` elements, but for rounding errors.
  package func inside(_ length: Int, of size: Int) -> Range<Int> {
    let (least, most) = (-1e-9, Double(length - 1) + 1e-9)
    guard scale != 0 else { return (least...most).contains(offset) ? 0..<size : 0..<0 }
    let ends = [(least - offset) / scale, (most - offset) / scale].sorted()
    let first = max(Int(saturating: ends[0].rounded(.up)), 0)
    let last = min(Int(saturating: ends[1].rounded(.down)), size - 1)
    return first <= last ? first..<(last + 1) : 0..<0
  }

  /// The coordinates of the positions from one on.
  package func from(_ position: Int) -> Sampling {
    Sampling(scale: scale, offset: offset + scale * Double(position), slack: slack)
  }

  /// The same coordinates, moved so little that rounding errors of `scale * i + offset` do not decide which of two equally
  /// near elements is read, or whether a whole coordinate is one.
  package func settled(for rounding: Resize.Rounding) -> Sampling {
    switch rounding {
    case .floor, .halfUp: Sampling(scale: scale, offset: offset + slack)
    case .ceil, .halfDown: Sampling(scale: scale, offset: offset - slack)
    }
  }
}

extension Emitter {
  /// Resizes axes; one whose size stays and whose coordinates are its positions is left alone, and so is one without
  /// elements.
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
  /// What was computed between whole numbers or truth values, to the nearest of these.
  package func rounded(_ x: ValueID, to scalar: ScalarType) throws -> ValueID {
    try cast(try unary(UnaryFunction(.round), x, step: "rounded"), to: scalar)
  }
}

extension ScalarType {
  /// In what it is computed between elements that are whole numbers or truth values.
  package var blended: ScalarType { byteCount >= 4 ? .float64 : .float32 }
}
