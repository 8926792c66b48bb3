import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Requests for models that segment, on images that are turned, and on real ones.
@Suite struct SegmentationModelTests {
  private static func model(_ path: String) async throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try await Model.load(contentsOf: URL(filePath: path), configuration: configuration)
  }

  private static func segmenter() async throws -> Model {
    try await model("\(VisionFixture.folder)/segmenter.mlpackage")
  }

  /// Returns the stored pixels for which `orientation` shows an image upright.
  private static func stored(_ image: PixelBuffer, _ orientation: ImageOrientation) throws -> PixelBuffer {
    try image.oriented(orientation == .right ? .left : orientation == .left ? .right : orientation)
  }

  @Test(arguments: ImageCropAndScale.allCases)
  func mapsAreUprightUnderEveryOrientation(rule: ImageCropAndScale) async throws {
    var request = try SegmentationRequest(model: try await Self.segmenter())
    request.cropAndScaleAction = rule
    let image = try ImageCodec.decode(path: VisionFixture.scene.path).pixels
    let upright = try await request.perform(on: image)
    #expect(upright.parts.count == 4)
    for orientation in ImageOrientation.allCases {
      let stored = try Self.stored(image, orientation)
      let seen = try await request.perform(on: stored, orientation: orientation)
      #expect((seen.width, seen.height) == (48, 32) && seen.labelMap == upright.labelMap, "\(orientation)")
      #expect(try seen.overlay(on: stored, orientation: orientation) == upright.overlay(on: image), "\(orientation)")
    }
  }

  @Test func requestReturnsOnlyChosenLabels() async throws {
    var request = try SegmentationRequest(model: try await Self.segmenter())
    let whole = try await request.perform(on: VisionFixture.scene)
    try request.restrict(to: ["red thing", "class 2"])
    let seen = try await request.perform(on: VisionFixture.scene)
    #expect(seen.parts == whole.parts.filter { ["red thing", "class 2"].contains($0.label) })
    #expect(seen.labelMap == (try whole.restricted(to: ["red thing", "class 2"])).labelMap)
    let error = #expect(throws: VisionError.self) { try request.restrict(to: ["red thig"]) }
    #expect(error?.description.contains("did you mean 'red thing'?") == true)
    // The model of plain scores has four classes and no names.
    var plain = try SegmentationRequest(
      model: try await Self.model("\(VisionFixture.folder)/segmenter.onnx"), normalization: .unit,
      colors: ["", "#123456"])
    #expect(throws: VisionError.self) { try plain.restrict(to: ["class 4"]) }
    try plain.restrict(to: ["class 1"])
    #expect(try await plain.perform(on: VisionFixture.scene).parts.map(\.color) == ["#123456"])
  }

  @Test(.slow, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func birdMapMatchesTheRecordedOne() async throws {
    let folder = SharedFiles.path("images/segmentation")
    let list = SharedFiles.path("labels/pascal_voc_segmentation_labels.txt")
    let names = try String(contentsOfFile: list, encoding: .utf8)
    let request = try SegmentationRequest(
      model: try await Self.model(SharedFiles.path("models/DeepLabV3Int8LUT.mlmodel")),
      labels: names.split(separator: "\n").map(String.init))
    let seen = try await request.perform(on: URL(filePath: "\(folder)/coral_bird_segmentation.bmp"))
    #expect(seen.parts.map(\.label) == ["background", "bird"])
    // The answer of another network in colours: all pixels that are not black are bird.
    let other = try ImageCodec.decode(path: "\(folder)/coral_bird_segmentation_mask.bmp").pixels
    #expect((other.width, other.height) == (seen.width, seen.height))
    let mask = try seen.mask(for: "bird")
    var (both, either) = (0, 0)
    for pixel in mask.bytes.indices {
      let isOthers = other.bytes[3 * pixel..<3 * pixel + 3].contains { $0 > 0 }
      both += isOthers && mask.bytes[pixel] > 0 ? 1 : 0
      either += isOthers || mask.bytes[pixel] > 0 ? 1 : 0
    }
    #expect(Double(both) > 0.9 * Double(either))
    let polygons = try seen.polygons(for: "bird")
    #expect(polygons.map(\.area).reduce(0, +) == Double(seen.parts[1].pixelCount))
  }

  /// Its labels come from the package's preview parameters; its weights, which it lacks, are drawn at random.
  @Test(.slow, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func detectionTransformerNamesItsClasses() async throws {
    let folder = TemporaryFolder()
    let package = try SeededPackage(
      copying: SharedFiles.path("models/DETRResnet50SemanticSegmentationF16.mlpackage"), to: folder.path, seed: 11)
    let model = try await Self.model(package.path)
    struct Preview: Decodable { var labels: [String] }
    let metadata = try #require(
      model.modelDescription.creatorDefinedMetadata["com.apple.coreml.model.preview.params"])
    let labels = try JSONDecoder().decode(Preview.self, from: Data(metadata.utf8)).labels
    let request = try SegmentationRequest(model: model)
    let seen = try await request.perform(on: URL(filePath: SharedFiles.path("images/exif/Portrait_6.jpg")))
    #expect((seen.width, seen.height) == (1200, 1800))
    #expect(!seen.parts.isEmpty)
    for part in seen.parts {
      let known = labels.indices.contains(part.index) && labels[part.index] != "--" ? labels[part.index] : nil
      #expect(part.label == known ?? "class \(part.index)")
    }
    #expect(throws: VisionError.self) { try seen.mask(for: "otter") }
    #expect(try seen.mask(for: "traffic light").bytes.count == seen.width * seen.height)
  }
}
