package import KelvinGraph

extension Dimension {
  package var isFlexible: Bool { if case .flexible = self { true } else { false } }

  /// The smallest and the largest size.
  var range: ClosedRange<Int> {
    switch self {
    case .fixed(let size): size...size
    case .flexible(_, let range, _): range
    }
  }

  /// Whether a size may be given for this dimension.
  package func accepts(_ size: Int) -> Bool {
    switch self {
    case .fixed(let fixed): size == fixed
    case .flexible(_, let range, _): range.contains(size)
    }
  }
}
