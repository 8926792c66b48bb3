package import KelvinGraph

extension Dimension {
  package var isFlexible: Bool { if case .flexible = self { true } else { false } }

  /// The range of sizes that the dimension allows.
  var range: ClosedRange<Int> {
    switch self {
    case .fixed(let size): size...size
    case .flexible(_, let range, _): range
    }
  }

  /// Returns whether the dimension allows a size.
  package func accepts(_ size: Int) -> Bool {
    switch self {
    case .fixed(let fixed): size == fixed
    case .flexible(_, let range, _): range.contains(size)
    }
  }
}
