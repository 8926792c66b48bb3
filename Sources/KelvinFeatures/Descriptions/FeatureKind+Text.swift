package import KelvinGraph

extension FeatureKind {
  /// A description such as `float32[1x3x64x64]` or `64x64 RGB image`.
  package var text: String {
    switch self {
    case .tensor(let scalar, let dimensions), .state(let scalar, let dimensions):
      dimensions.isEmpty
        ? scalar.rawValue : "\(scalar.rawValue)[\(dimensions.map(\.description).joined(separator: " x "))]".compactSizes
    case .image(let image):
      "\(image.width)x\(image.height) \(image.layout.rawValue.uppercased()) image\(image.otherSizes)"
    case .int64: "whole number"
    case .double: "number"
    case .string: "string"
    case .dictionary(let keys): "dictionary by \(keys == .string ? "string" : "whole numbers")"
    case .sequence(let elements): "sequence of \(elements == .string ? "strings" : "whole numbers")"
    case .strings(let dimensions):
      dimensions.isEmpty ? "strings" : "strings[\(dimensions.map(\.description).joined(separator: " x "))]".compactSizes
    case .tensors(let scalar): "sequence of \(scalar.rawValue) arrays"
    case .dictionaries(let keys): "dictionaries by \(keys == .string ? "string" : "whole numbers")"
    }
  }
}

extension Feature {
  /// A description of the type, such as `float32[1x3x64x64]`; `float32[…]` for an array of any shape.
  package var typeText: String {
    if hasComputedType { return "array" }
    return takesAnyShape ? "\(type.text)[…]" : type.text
  }
}

extension ImageFeature {
  /// The allowed sizes other than the default size, as they follow it in a description.
  fileprivate var otherSizes: String {
    func text(_ range: ClosedRange<Int>) -> String {
      range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
    }
    switch sizes {
    case .fixed: return ""
    case .ranged(let widths, let heights): return " (\(text(widths)) wide, \(text(heights)) high)"
    case .enumerated(let sizes):
      let others = sizes.filter { $0 != Size(width: width, height: height) }
      let shown = others.prefix(4).map { "\($0.width)x\($0.height)" }.joined(separator: ", ")
      return others.isEmpty ? "" : " (or \(shown)\(others.count > 4 ? " and \(others.count - 4) more" : ""))"
    }
  }
}

extension String {
  /// Converts `1 x 3 x 64` to `1x3x64` if every size is a number.
  fileprivate var compactSizes: String {
    let isPlain = !contains("≥") && !contains("∈")
    return isPlain ? split(separator: " ").joined() : self
  }
}
