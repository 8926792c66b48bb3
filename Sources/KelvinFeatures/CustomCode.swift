import KelvinGraph
package import KelvinHostOperations

/// The program's code for custom layers and models of Core ML, whose files name a class and hold no code.
///
/// ```swift
/// var configuration = ModelConfiguration()
/// configuration.customCode = CustomCode(layer: { description in
///   description.className == "Swish" ? Swish(description) : nil
/// })
/// ```
///
/// A value equals its copies.
public struct CustomCode: Hashable, Sendable {
  /// Makes the layer of a description; nil if the program has no such class.
  public typealias MakeLayer = @Sendable (CustomCodeDescription) throws -> (any CustomLayer)?
  /// Makes the model of a description; nil if the program has no such class.
  public typealias MakeModel = @Sendable (CustomCodeDescription) throws -> (any CustomModel)?

  private final class Makers: Sendable {
    let layer: MakeLayer?
    let model: MakeModel?

    init(_ layer: MakeLayer?, _ model: MakeModel?) { (self.layer, self.model) = (layer, model) }
  }

  private let makers: Makers

  /// Creates a value from functions, which are called once for each layer and model when a model loads.
  public init(layer: MakeLayer? = nil, model: MakeModel? = nil) { makers = Makers(layer, model) }

  package func makeLayer(_ description: CustomCodeDescription) throws -> (any CustomLayer)? {
    try makers.layer?(description)
  }

  package func makeModel(_ description: CustomCodeDescription) throws -> (any CustomModel)? {
    try makers.model?(description)
  }

  public static func == (a: Self, b: Self) -> Bool { a.makers === b.makers }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(makers)) }
}

/// A layer that the program computes, on the CPU. Any number of predictions may call it at the same time.
public protocol CustomLayer: Sendable {
  /// Returns the shapes of the outputs.
  ///
  /// - Parameter inputShapes: The shapes of the inputs, outermost size first. Networks up to specification version 3 give
  ///   `[sequence, batch, channel, height, width]`.
  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]]

  /// Returns the outputs, in the shapes of `outputShapes(forInputShapes:)`. Inputs must not change.
  func evaluate(_ inputs: [MultiArray]) throws -> [MultiArray]
}

/// A model that the program computes.
public protocol CustomModel: Sendable {
  /// Returns the model's outputs.
  func prediction(from input: any FeatureProvider) throws -> any FeatureProvider
}

/// A custom layer or a custom model in a file.
public struct CustomCodeDescription: Sendable {
  /// A parameter in the file.
  public enum Parameter: Hashable, Sendable {
    /// A number.
    case double(Double)
    /// A string.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A Boolean value.
    case bool(Bool)
    /// Bytes, which only models have.
    case bytes([UInt8])
  }

  /// The name of the class.
  public let className: String
  /// The layer's name; empty for a model.
  public let name: String
  /// The author's description.
  public let summary: String
  /// The parameters, by name.
  public let parameters: [String: Parameter]
  /// A layer's weights, as bytes of float32 or in the file's encoding.
  public let weights: [[UInt8]]
  /// The features of a custom model: its inputs and outputs. Nil for a layer.
  public let modelDescription: ModelDescription?

  package init(_ source: CustomOperation.Source, _ modelDescription: ModelDescription?) {
    className = source.className
    name = source.place
    summary = source.summary
    parameters = source.parameters.mapValues {
      switch $0 {
      case .double(let number): .double(number)
      case .string(let string): .string(string)
      case .integer(let integer): .integer(integer)
      case .bool(let flag): .bool(flag)
      case .bytes(let bytes): .bytes(bytes)
      }
    }
    weights = source.weights.map { $0.withUnsafeBytes { [UInt8]($0) } }
    self.modelDescription = modelDescription
  }
}
