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
    extended("StftNorm", inputs: 5...5) { SpectrumPower(isOneSided: $0.flag("onesided", default: true), $1) },
    extended("ImageDecoder") { ImageDecoding(.bgr, input: $1.inputs[0], output: $1.outputs[0]) },
    extended("GaussianBlur", inputs: 3...3) { GaussianBlur($1) },
    audioDecoder, decodeImage, encodeImage, drawBoundingBoxes,
  ]

  private static let audioDecoder = extended("AudioDecoder", inputs: 1...2) { node, slots in
    let rate = node.integer("downsampling_rate", default: -1)
    return WaveSamples(rate: rate > 0 ? rate : nil, mixesPairs: node.flag("stereo_to_mono"), slots)
  }

  private static let decodeImage = extended("DecodeImage") { (node, slots) throws(FormatError) in
    let channels: ImageDecoding.Channels = try node.isBlueFirst() ? .bgr : .rgb
    return ImageDecoding(channels, input: slots.inputs[0], output: slots.outputs[0])
  }

  private static let encodeImage = extended("EncodeImage") { (node, slots) throws(FormatError) in
    let format = node.text("format", default: "png")
    guard format == "png" || format == "jpg" else {
      throw node.malformed("its format is '\(format)', expected png or jpg")
    }
    return ImageEncoding(isJPEG: format == "jpg", isBlueFirst: try node.isBlueFirst(), slots)
  }

  private static let drawBoundingBoxes = extended(
    "DrawBoundingBoxes", inputs: 2...2
  ) { (node, slots) throws(FormatError) in
    let mode = node.text("mode", default: "XYXY")
    guard let form = BoxDrawing.Form(rawValue: mode) else {
      throw node.malformed("its mode is '\(mode)', expected XYXY, XYWH or CENTER_XYWH")
    }
    let thickness = node.integer("thickness", default: 4)
    guard thickness > 0 else { throw node.malformed("its thickness is \(thickness), expected at least 1") }
    return BoxDrawing(
      form, thickness: thickness, colorsClasses: node.integer("colour_by_classes", default: 1) > 0, slots)
  }
}

extension ONNXHostNode {
  /// Whether the pixels of an image are blue, green and red, by the attribute `color_space`.
  fileprivate func isBlueFirst() throws(FormatError) -> Bool {
    let space = text("color_space", default: "bgr")
    guard space == "bgr" || space == "rgb" else {
      throw malformed("its color_space is '\(space)', expected bgr or rgb")
    }
    return space == "bgr"
  }
}
