import KelvinBasics
import KelvinEngine
import KelvinImport

/// What models of each format may consist of, by the format's own names, in their order.
///
/// An operation that is not among them is refused when a model is loaded, with its name and place; one that is may still be
/// refused for an attribute or element type.
public struct SupportedOperations: Codable, Hashable, Sendable {
  /// ONNX operators, with their domain where it is not the standard one: `ai.onnx.ml.Scaler`.
  public let onnx: [String]
  /// Operations of ML Programs, without the versions in which they are defined.
  public let mlProgram: [String]
  /// Layers of neural networks, by their names in the specification.
  public let neuralNetwork: [String]
  /// Kinds of Core ML models.
  public let models: [String]

  /// Those of this version of Kelvin.
  public init() {
    onnx = supportedOperations(.onnx)
    mlProgram = supportedOperations(.mlProgram)
    neuralNetwork = supportedOperations(.neuralNetwork)
    models = supportedOperations(.modelKinds)
  }

  /// One paragraph for each format.
  package func text(width: Int) -> String {
    [
      ("ONNX", onnx), ("ML Programs", mlProgram), ("Neural networks", neuralNetwork),
      ("Kinds of Core ML models", models),
    ].map { title, names in
      "\(title), \(names.count):\n" + names.joined(separator: " ").paragraph(width: width, indent: 2)
    }.joined(separator: "\n\n")
  }
}
