import CoreVideo
public import Foundation
public import Kelvin

/// The options of a prediction.
public final class MLPredictionOptions: NSObject, @unchecked Sendable {
  /// Has no effect: units are chosen when a model is loaded.
  public var usesCPUOnly = false
  /// The destinations of outputs, by name: an ``MLMultiArray`` of the output's type and shape, or a `CVPixelBuffer` of
  /// its size and of 8 bits per channel. The prediction's outputs are then these objects.
  public var outputBackings: [String: Any] = [:]

  /// Creates the default options.
  public override init() {}

  /// Kelvin's options.
  ///
  /// - Throws: `MLModelError` (`featureType`) for a backing of another type.
  public var kelvin: PredictionOptions {
    get throws {
      var options = PredictionOptions()
      for (name, backing) in outputBackings {
        switch backing {
        case let array as MLMultiArray: options.outputBackings[name] = .multiArray(array.kelvin)
        case let buffer as CVPixelBuffer:
          options.outputBackings[name] = try MLModelError.wrapping { () throws(ModelError) in
            .pixelBuffer(try buffer.backing(of: name))
          }
        default:
          throw MLModelError(
            .featureType,
            "the backing of output '\(name)' is a \(Swift.type(of: backing)); expected an MLMultiArray or a CVPixelBuffer"
          )
        }
      }
      return options
    }
  }

  /// The backings as feature values.
  var values: [String: MLFeatureValue] {
    outputBackings.compactMapValues { backing in
      switch backing {
      case let array as MLMultiArray: MLFeatureValue(multiArray: array)
      case let buffer as CVPixelBuffer: MLFeatureValue(pixelBuffer: buffer)
      default: nil
      }
    }
  }
}

extension CVBuffer {
  /// Returns Kelvin's destination over the buffer's memory.
  fileprivate func backing(of name: String) throws(ModelError) -> PixelBacking {
    guard let base = CVPixelBufferGetBaseAddress(self), !CVPixelBufferIsPlanar(self) else {
      throw ModelError(.featureType, "the backing of output '\(name)' has several planes; expected interleaved pixels")
    }
    return try PixelBacking(
      dataPointer: base, width: CVPixelBufferGetWidth(self), height: CVPixelBufferGetHeight(self),
      format: kelvin.format, bytesPerRow: CVPixelBufferGetBytesPerRow(self),
      deallocator: { [self] _ in withExtendedLifetime(self) {} })
  }
}
