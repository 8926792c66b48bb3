// Segments a photo as the DETR sample does: labels and colors from metadata, a 32ARGB buffer in, a mask per label out.
//
// Segmentation MODEL PHOTO MASK.png
import CoreImage
import CoreML
import Foundation
import ImageIO

final class SegmentationModel {
  let model: MLModel
  let labelNames: [String]
  let colors: [String]
  let targetSize: CGSize
  let context = CIContext()
  let inputPixelBuffer: CVPixelBuffer

  init(contentsOf url: URL) async throws {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    model = try await MLModel.load(contentsOf: url, configuration: configuration)
    guard let metadata = model.modelDescription.metadata[.creatorDefinedKey] as? [String: Any],
      let parameters = metadata["com.apple.coreml.model.preview.params"] as? String,
      let data = parameters.data(using: .utf8),
      let parsed = try JSONSerialization.jsonObject(with: data) as? [String: Any],
      let labels = parsed["labels"] as? [String]
    else { fatalError("the model has no labels") }
    labelNames = labels
    colors = parsed["colors"] as? [String] ?? []
    let constraint = model.modelDescription.inputDescriptionsByName["image"]!.imageConstraint!
    targetSize = CGSize(width: constraint.pixelsWide, height: constraint.pixelsHigh)
    var buffer: CVPixelBuffer!
    let status = CVPixelBufferCreate(
      kCFAllocatorDefault, Int(targetSize.width), Int(targetSize.height), kCVPixelFormatType_32ARGB, nil, &buffer)
    guard status == kCVReturnSuccess else { fatalError("Failed to create pixel buffer") }
    inputPixelBuffer = buffer
  }

  func performInference(_ image: CIImage) throws -> MLShapedArray<Int32> {
    let scale = CGAffineTransform(
      scaleX: targetSize.width / image.extent.width, y: targetSize.height / image.extent.height)
    context.render(image.transformed(by: scale), to: inputPixelBuffer)
    let input = try MLDictionaryFeatureProvider(dictionary: ["image": MLFeatureValue(pixelBuffer: inputPixelBuffer)])
    let output = try model.prediction(from: input)
    guard let values = output.featureValue(for: "semanticPredictions")?.multiArrayValue else {
      fatalError("no predictions")
    }
    return MLShapedArray<Int32>(values)
  }

  func mask(of label: Int, in classes: MLShapedArray<Int32>) -> CGImage? {
    let (height, width) = (classes.shape[0], classes.shape[1])
    var bitmap = classes.scalars.map { $0 == label ? UInt8(255) : 0 }
    return bitmap.withUnsafeMutableBytes { bytes in
      CGContext(
        data: bytes.baseAddress, width: width, height: height, bitsPerComponent: 8, bytesPerRow: width,
        space: CGColorSpaceCreateDeviceGray(), bitmapInfo: CGImageAlphaInfo.none.rawValue)?.makeImage()
    }
  }
}

@main
struct Segmentation {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let model = try await SegmentationModel(contentsOf: URL(fileURLWithPath: arguments[1]))
    guard let photo = CIImage(contentsOf: URL(fileURLWithPath: arguments[2])) else { fatalError("no photo") }
    let classes = try model.performInference(photo)
    print("shape: \(classes.shape)")
    var counts = [Int32: Int]()
    for label in classes.scalars { counts[label, default: 0] += 1 }
    for (label, count) in counts.sorted(by: { $0.value > $1.value }) {
      let share = 100 * Double(count) / Double(classes.scalarCount)
      print("\(model.labelNames[Int(label)]) \(model.colors[Int(label)]) \(String(format: "%.1f", share))%")
    }
    guard let bird = model.labelNames.firstIndex(of: "bird"), let mask = model.mask(of: bird, in: classes),
      let destination = CGImageDestinationCreateWithURL(
        URL(fileURLWithPath: arguments[3]) as CFURL, "public.png" as CFString, 1, nil)
    else { fatalError("no mask") }
    CGImageDestinationAddImage(destination, mask, nil)
    print("mask: \(mask.width) x \(mask.height), written: \(CGImageDestinationFinalize(destination))")
  }
}
