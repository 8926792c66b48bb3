import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  /// Decodes the pixels of an encoded image.
  static let imageDecoder = ONNXHostMapper("ImageDecoder") { (node) throws(FormatError) in
    let format = node.text("pixel_format", default: "RGB")
    guard let channels = ImageDecoding.Channels(rawValue: format) else {
      throw node.malformed("its pixel_format is '\(format)', expected RGB, BGR or Grayscale")
    }
    let step = ImageDecoding(channels, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }
}
