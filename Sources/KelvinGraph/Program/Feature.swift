import KelvinBasics

/// An input or output of a function.
package struct Feature: Sendable, Hashable {
  package var name: String
  package var type: FeatureKind
  package var isOptional: Bool
  /// The author's description.
  package var summary: String
  /// The number that replaces an omitted optional input.
  package var defaultValue: Double?
  /// The only allowed shapes of a tensor, unless empty; the dimensions' ranges then enclose them.
  package var allowedShapes: [Shape]
  /// Whether a tensor may have two additional leading axes, of a sequence and its batch, as Core ML's older networks
  /// take them.
  package var takesSequences = false
  /// Whether the source declares no rank, so that every shape is allowed. The type then has no dimensions.
  package var takesAnyShape = false
  /// Whether the source declares no type for an output. Its values have the element type that the graph computes.
  package var hasComputedType = false

  /// Whether a user's name is the feature's: by its bytes in the model's file, or as descriptions show it.
  package func isNamed(_ given: String) -> Bool {
    let own = ExactString(name)
    return own == ExactString(given) || own == ExactString(ExactString(given).escaped)
  }

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
  /// Returns the part of a shape that the feature's dimensions describe.
  package func described(_ shape: Shape) -> Shape {
    if takesAnyShape { return [] }
    guard takesSequences, case .tensor(_, let dimensions) = type, shape.rank == dimensions.count + 2,
      !shape.dimensions.prefix(2).contains(0)
    else { return shape }
    return Shape(Array(shape.dimensions.dropFirst(2)))
  }

  /// Whether predictions may use other sizes than the default ones.
  package var hasOpenSizes: Bool {
    switch type {
    case .tensor(_, let dimensions), .strings(let dimensions):
      takesSequences || takesAnyShape || dimensions.contains { if case .flexible = $0 { true } else { false } }
    case .image(let image): image.isFlexible
    default: false
    }
  }
}

/// The kind of a feature's value, and its allowed sizes.
package enum FeatureKind: Sendable, Hashable {
  case tensor(ScalarType, [Dimension])
  /// An image, which enters the graph as a `[1, C, H, W]` tensor with values 0…255 (or in the range
  /// `ImageFeature.range`).
  case image(ImageFeature)
  case int64, double, string
  case dictionary(keys: KeyType)
  case sequence(of: KeyType)
  /// An array of strings.
  case strings([Dimension])
  /// A sequence of dictionaries.
  case dictionaries(keys: KeyType)
  /// A sequence of tensors of any shapes.
  case tensors(ScalarType)
  case state(ScalarType, [Dimension])

  package enum KeyType: String, Sendable, Hashable { case int64, string }
}

/// One size of a tensor feature.
package enum Dimension: Sendable, Hashable, CustomStringConvertible {
  case fixed(Int)
  /// A size that is known when an input arrives. `standard` is the default size, if the source gives one.
  case flexible(name: String, range: ClosedRange<Int>, standard: Int?)

  package var description: String {
    switch self {
    case .fixed(let size): "\(size)"
    case .flexible(let name, let range, _):
      range.upperBound == .max ? "\(name)≥\(range.lowerBound)" : "\(name)∈\(range.lowerBound)…\(range.upperBound)"
    }
  }
}
