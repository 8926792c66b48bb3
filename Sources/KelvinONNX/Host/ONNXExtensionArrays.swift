import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The operators of onnxruntime-extensions on numbers and images.
extension ONNXHostMapper {
  static let extensionArrays: [ONNXHostMapper] = [
    extended("SegmentExtraction", outputs: 2) { SegmentRuns($1) },
    extended("SegmentSum", inputs: 2...2) { SegmentSums($1) },
    extended("RaggedTensorToSparse", outputs: 2) { RaggedPlaces($1) },
    extended("RaggedTensorToDense", inputs: 4...4) { RaggedMatrix($1) },
    extended("StringRaggedTensorToDense", inputs: 4...4, strings: [0]) { RaggedMatrix($1) },
    extended("NegPos", outputs: 2) { SignedParts($1) },
    extended("Inverse") { MatrixInverse($1) },
    decodeImage,
  ]

  private static let decodeImage = extended("DecodeImage") { (node, slots) throws(FormatError) in
    let channels: ImageDecoding.Channels
    switch node.text("color_space", default: "bgr") {
    case "bgr": channels = .bgr
    case "rgb": channels = .rgb
    case let space: throw node.malformed("its color_space is '\(space)', expected bgr or rgb")
    }
    return ImageDecoding(channels, input: slots.inputs[0], output: slots.outputs[0])
  }
}
