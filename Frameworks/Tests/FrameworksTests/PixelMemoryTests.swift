import CoreImage
import CoreML
import CoreVideo
import Foundation
import Kelvin
import Testing
import Vision

/// Predictions and requests read the pixels of a buffer where the program wrote them.
@Suite struct PixelMemoryTests {
  private static let formats: [OSType] = [
    kCVPixelFormatType_32BGRA, kCVPixelFormatType_OneComponent8, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange,
    kCVPixelFormatType_128RGBAFloat,
  ]

  @Test(arguments: formats) func imagesHaveTheAddressesOfTheirBuffers(format: OSType) throws {
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, 64, 64, format, nil, &made)
    let buffer = try #require(made)
    let expected = Self.addresses(of: buffer)
    #expect(expected.count == max(CVPixelBufferGetPlaneCount(buffer), 1))
    #expect(Self.addresses(read: buffer.kelvin) == expected)
    let value = MLFeatureValue(pixelBuffer: buffer)
    #expect(Self.addresses(read: try #require(value.kelvin.imageBufferValue)) == expected)
    let provider = try MLDictionaryFeatureProvider(dictionary: ["image": buffer])
    let given = try #require(provider.kelvin.featureValue(for: "image")?.imageBufferValue)
    #expect(Self.addresses(read: given) == expected)
    #expect(Self.addresses(read: CIImage(cvPixelBuffer: buffer).kelvin) == expected)
  }

  /// The image is drawn after the handler was made.
  @Test func handlersReadTheBuffer() throws {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    let model = try VNCoreMLModel(for: MLModel(contentsOf: Places.digits, configuration: configuration))
    let request = VNCoreMLRequest(model: model)
    var made: CVPixelBuffer?
    CVPixelBufferCreate(nil, 64, 64, kCVPixelFormatType_32BGRA, nil, &made)
    let buffer = try #require(made)
    let handler = VNImageRequestHandler(cvPixelBuffer: buffer)
    let image = try #require(CIImage(contentsOf: Places.nine))
    let scale = CGAffineTransform(scaleX: 64 / image.extent.width, y: 64 / image.extent.height)
    CIContext().render(image.transformed(by: scale), to: buffer)
    try handler.perform([request])
    #expect((request.results?.first as? VNClassificationObservation)?.identifier == "nine")
  }

  /// The addresses of the rows that Core Video gives to a program.
  private static func addresses(of buffer: CVPixelBuffer) -> [UnsafeRawPointer] {
    guard CVPixelBufferIsPlanar(buffer) else { return [CVPixelBufferGetBaseAddress(buffer)].compactMap { .init($0) } }
    return (0..<CVPixelBufferGetPlaneCount(buffer)).compactMap {
      CVPixelBufferGetBaseAddressOfPlane(buffer, $0).map { UnsafeRawPointer($0) }
    }
  }

  /// The addresses of the planes within one of Kelvin's values. They are not public.
  private static func addresses(read value: Any) -> [UnsafeRawPointer] {
    if let plane = value as? PixelPlane { return [plane.base] }
    return Mirror(reflecting: value).children.flatMap { addresses(read: $0.value) }
  }
}
