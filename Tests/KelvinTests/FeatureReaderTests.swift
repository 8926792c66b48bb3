import FoundationEssentials
import Kelvin
import KelvinGraph
import KelvinImages
import Testing

/// Features from an image in memory.
struct FeatureReaderTests {
  private static let pixels = [UInt8]((0..<24).map { UInt8(10 * $0) })

  private static func buffer() throws -> PixelBuffer {
    try PixelBuffer(width: 4, height: 2, format: .rgb8, bytes: pixels)
  }

  private static func reader(_ inputs: [Feature], scaling: FeatureReader.Scaling? = nil) throws -> FeatureReader {
    FeatureReader(Function(inputs: inputs, outputs: [], parts: []), scaling: scaling)
  }

  private static let image = Feature(name: "photo", type: .image(ImageFeature(width: 4, height: 2, layout: .rgb)))
  private static let tensor = Feature(
    name: "x", type: .tensor(.float32, [.fixed(1), .fixed(3), .fixed(2), .fixed(4)]))

  @Test func frameIsTheValueOfTheOnlyInput() throws {
    let given = try Self.reader([Self.image]).read(try Self.buffer(), orientation: .right)
    #expect(given.featureNames == ["photo"] && given.featureValue(for: "photo")?.type == .image)
  }

  @Test func frameEntersAPlainTensorByTheScaling() throws {
    let reader = try Self.reader([Self.tensor]) { _ in (.rgb, [1, 1, 1], [0, 0, 0]) }
    let given = try reader.read(try Self.buffer(), orientation: .up)
    let array = try #require(given.featureValue(for: "x")?.multiArrayValue)
    #expect(array.shape == [1, 3, 2, 4])
    let planes = (0..<3).flatMap { channel in (0..<8).map { Double(Self.pixels[3 * $0 + channel]) } }
    #expect((0..<24).map { array[$0] } == planes)
  }

  @Test func plainTensorWithoutScalingIsRefused() throws {
    let error = #expect(throws: ModelError.self) {
      try Self.reader([Self.tensor]).read(try Self.buffer(), orientation: .up)
    }
    #expect(error?.description.contains("--normalization") == true)
  }

  @Test func modelWithSeveralInputsIsRefused() throws {
    let error = #expect(throws: ModelError.self) {
      try Self.reader([Self.image, Self.tensor]).read(try Self.buffer(), orientation: .up)
    }
    #expect(error?.description.contains("'photo'") == true && error?.description.contains("'x'") == true)
  }
}
