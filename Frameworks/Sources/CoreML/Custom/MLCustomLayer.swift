public import Foundation
import Kelvin
import Synchronization

/// A class that computes a custom layer, on the CPU. A model's file names the class; see
/// ``MLModel/register(_:className:)``.
///
/// Predictions call one layer's methods one at a time.
public protocol MLCustomLayer: AnyObject {
  /// Creates a layer with the parameters of the file: numbers, strings and truth values.
  init(parameters: [String: Any]) throws
  /// Receives the weights of the file, in order: float32 numbers, or the bytes of the file's encoding. Called once.
  func setWeightData(_ weights: [Data]) throws
  /// Returns the shapes of the outputs for shapes of the inputs.
  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]]
  /// Computes the outputs, float32 arrays of the shapes that `outputShapes(forInputShapes:)` gave.
  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws
}

/// A custom layer for Kelvin.
final class RegisteredLayer: CustomLayer {
  private let layer: Mutex<any MLCustomLayer>

  init(_ type: any MLCustomLayer.Type, _ description: CustomCodeDescription) throws {
    let made = try type.init(parameters: description.parameters.mapValues(\.object))
    try made.setWeightData(description.weights.map { Data($0) })
    nonisolated(unsafe) let layer: any MLCustomLayer = made
    self.layer = Mutex(layer)
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    try layer.withLock { layer in
      let shapes = inputShapes.map { $0.map { NSNumber(value: $0) } }
      return try layer.outputShapes(forInputShapes: shapes).map { $0.map(\.intValue) }
    }
  }

  func evaluate(_ inputs: [MultiArray]) throws -> [MultiArray] {
    let shapes = try outputShapes(forInputShapes: inputs.map(\.shape))
    let outputs = try shapes.map { try MultiArray(shape: $0, dataType: .float32) }
    try layer.withLock { layer in
      try layer.evaluate(inputs: inputs.map { MLMultiArray($0) }, outputs: outputs.map { MLMultiArray($0) })
    }
    return outputs
  }
}

extension CustomCodeDescription.Parameter {
  /// The parameter as Core ML gives it to classes.
  var object: Any {
    switch self {
    case .double(let number): NSNumber(value: number)
    case .string(let string): string
    case .integer(let integer): NSNumber(value: integer)
    case .bool(let flag): NSNumber(value: flag)
    case .bytes(let bytes): Data(bytes)
    }
  }
}
