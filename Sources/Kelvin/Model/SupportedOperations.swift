import KelvinBasics
import KelvinEngine
import KelvinImport

/// The operations that Kelvin supports for each format, by the format's names, sorted.
///
/// A model with another operation is refused when it is loaded, with the operation's name and position. A listed
/// operation may still be refused for an attribute or element type.
public struct SupportedOperations: Codable, Hashable, Sendable {
  /// ONNX operators, with their domain if it is not the default one: `ai.onnx.ml.Scaler`.
  public let onnx: [String]
  /// Operations of ML Programs, without their opset versions.
  public let mlProgram: [String]
  /// Layers of neural networks, by their names in the specification.
  public let neuralNetwork: [String]
  /// Kinds of Core ML models.
  public let models: [String]

  /// The operations of this version of Kelvin.
  public init() {
    onnx = supportedOperations(.onnx)
    mlProgram = supportedOperations(.mlProgram)
    neuralNetwork = supportedOperations(.neuralNetwork)
    models = supportedOperations(.modelKinds)
  }

  /// Formats one paragraph for each format.
  package func text(width: Int) -> String {
    [
      ("ONNX", onnx), ("ML Programs", mlProgram), ("Neural networks", neuralNetwork),
      ("Kinds of Core ML models", models),
    ].map { title, names in
      "\(title), \(names.count):\n" + names.joined(separator: " ").paragraph(width: width, indent: 2)
    }.joined(separator: "\n\n")
  }
}
