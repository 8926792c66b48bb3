import FoundationEssentials
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinImages
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import KelvinVision
import TestSupport
import Testing

/// Models as people have them, against results of an independent runtime.
@Suite(.serialized, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
struct RealModelTests {
  static let photos = ["cat_720p", "grace_hopper", "hot_dog", "owl", "parrot", "pets"]

  @Test(arguments: Tier.some(1, of: ModelFixture.devices))
  func mobileNetLogitsAreWithinAThousandth(device: String) throws {
    let loaded = try ModelFixture.load(SharedFiles.path("models/MobileNetV2_f32.onnx"))
    let graph = loaded.context.graph
    let request = PlanRequest(units: .devices([device]), isStrict: true, precision: .full, threads: 2)
    let solution = try loaded.context.planner.problem(graph, request).solve()
    #expect(Set(solution.placement.values) == [device], "every node runs on the device itself")
    let session = try loaded.context.compile(solution, precision: .full, threads: 2).makeSession()
    for photo in device == "reference" ? Array(Self.photos.prefix(2)) : Self.photos {
      let input = try ModelFixture.tensor("expected/mobilenetv2_\(photo)_input.npy")
      let expected = try ModelFixture.tensor("expected/mobilenetv2_\(photo)_logits.npy").floats
      let logits = try #require(
        zip(graph.outputs, session.run([input])).first { graph[$0.0].name.hasPrefix("logits") }?.1.floats)
      let largest = zip(logits, expected).map { abs($0 - $1) }.max() ?? .infinity
      #expect(largest <= 1e-3, "\(photo) on \(device)")
    }
  }

  @Test func float16PackageGivesTheSameClasses() async throws {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try await Model.load(
      contentsOf: URL(filePath: SharedFiles.path("models/MobileNetV2_f16.mlpackage")), configuration: configuration)
    let table = try String(contentsOfFile: SharedFiles.path("expected/mobilenetv2_photos_top5.tsv"), encoding: .utf8)
    let labels = model.modelDescription.classLabels.map(\.description)
    for photo in Self.photos {
      // The tensor is RGB / 127.5 - 1; the package takes pixels.
      let input = try ModelFixture.tensor("expected/mobilenetv2_\(photo)_input.npy")
      let logits = try ModelFixture.tensor("expected/mobilenetv2_\(photo)_logits.npy").floats
      let best = try #require(logits.indices.max { logits[$0] < logits[$1] })
      #expect(table.contains(photo))
      let pixels = try input.pixels()
      let outputs = try await model.prediction(
        from: DictionaryFeatureProvider(dictionary: ["image": FeatureValue(pixelBuffer: pixels)]))
      #expect(outputs["classLabel"]?.stringValue == labels[best], "\(photo)")
    }
  }

  @Test func visionClassifiesAPhoto() async throws {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try await Model.load(
      contentsOf: URL(filePath: SharedFiles.path("models/MobileNetV2_f16.mlpackage")), configuration: configuration)
    var request = CoreMLRequest(model: try CoreMLModelContainer(model: model))
    request.cropAndScaleAction = .centerCrop
    let handler = ImageRequestHandler(URL(filePath: SharedFiles.path("images/photos/parrot.jpg")))
    let observations = try await handler.perform(request)
    let first = try #require(observations.first as? ClassificationObservation)
    #expect(first.identifier == "macaw")
    #expect(observations.count == Set(model.modelDescription.classLabels).count)
    #expect(abs(observations.reduce(0) { $0 + $1.confidence } - 1) < 0.02)
  }
}

extension Tensor {
  /// The image that was normalised to `RGB / 127.5 - 1`.
  fileprivate func pixels() throws -> PixelBuffer {
    let plane = shape[2] * shape[3]
    let values = floats
    var bytes: [UInt8] = []
    for index in 0..<plane {
      for channel in 0..<3 { bytes.append(UInt8(((values[channel * plane + index] + 1) * 127.5).rounded())) }
    }
    return try PixelBuffer(width: shape[3], height: shape[2], format: .rgb8, bytes: bytes)
  }
}
