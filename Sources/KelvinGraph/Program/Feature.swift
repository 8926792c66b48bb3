/// An input or output of a function.
package struct Feature: Sendable, Hashable {
  package var name: String
  package var type: FeatureKind
  package var isOptional: Bool
  /// The author's words.
  package var summary: String
  /// For an optional input, the number that fills it when it is left out.
  package var defaultValue: Double?
  /// Where it is not empty, the only shapes a tensor may have; the dimensions' ranges then enclose them.
  package var allowedShapes: [Shape]
  /// Whether a tensor may have two axes more in front, of a sequence and its batch, as Core ML's older networks take them.
  package var takesSequences = false

  package init(
    name: String, type: FeatureKind, isOptional: Bool = false, summary: String = "", defaultValue: Double? = nil,
    allowedShapes: [Shape] = []
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.summary = summary
    self.defaultValue = defaultValue
    self.allowedShapes = allowedShapes
  }
}

extension Feature {
  /// Of a given shape the sizes that the feature describes.
  package func described(_ shape: Shape) -> Shape {
    guard takesSequences, case .tensor(_, let dimensions) = type, shape.rank == dimensions.count + 2,
      !shape.dimensions.prefix(2).contains(0)
    else { return shape }
    return Shape(Array(shape.dimensions.dropFirst(2)))
  }

  /// Whether predictions may give it other sizes than the usual ones.
  package var hasOpenSizes: Bool {
    switch type {
    case .tensor(_, let dimensions), .strings(let dimensions):
      takesSequences || dimensions.contains { if case .flexible = $0 { true } else { false } }
    case .image(let image): image.isFlexible
    default: false
    }
  }
}

/// What a feature holds, and the sizes it may have.
package enum FeatureKind: Sendable, Hashable {
  case tensor(ScalarType, [Dimension])
  /// An image, which enters the graph as a `[1, C, H, W]` tensor with values 0…255 (or as `ImageFeature.range` says).
  case image(ImageFeature)
  case int64, double, string
  case dictionary(keys: KeyType)
  case sequence(of: KeyType)
  /// Strings in an array.
  case strings([Dimension])
  /// Dictionaries in a row.
  case dictionaries(keys: KeyType)
  /// Tensors of any shapes in a row.
  case tensors(ScalarType)
  case state(ScalarType, [Dimension])

  package enum KeyType: String, Sendable, Hashable { case int64, string }
}

/// One size of a tensor feature.
package enum Dimension: Sendable, Hashable, CustomStringConvertible {
  case fixed(Int)
  /// Known when an input arrives. `standard` is the size taken when nothing is said, where the source gives one.
  case flexible(name: String, range: ClosedRange<Int>, standard: Int?)

  package var description: String {
    switch self {
    case .fixed(let size): "\(size)"
    case .flexible(let name, let range, _):
      range.upperBound == .max ? "\(name)≥\(range.lowerBound)" : "\(name)∈\(range.lowerBound)…\(range.upperBound)"
    }
  }
}
