import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// Expected objects: NumPy and torchvision's suppression (`Tests/Vision/Heads/generate.py`).
@Suite struct DetectionHeadTests {
  private static let folder = "\(VisionFixture.folder)/Heads"

  private struct Expected: Decodable {
    struct Object: Decodable {
      var label: String
      var confidence: Double
      /// Left, top, right, bottom in pixels.
      var box: [Double]
      var scores: [Double?]?
    }
    struct Placed: Decodable {
      var rule: String
      var orientation: Int
      var boxes: [[Double]]
    }
    var heads: [String: [Object]]
    var placed: [Placed]
  }

  private static let expected: Expected? = try? JSONDecoder().decode(
    Expected.self, from: Data(contentsOf: URL(filePath: "\(folder)/expected.json")))
  private static let labels = ["otter", "heron", "reed"]

  private func model(_ name: String) async throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try await Model.load(
      contentsOf: URL(filePath: "\(Self.folder)/\(name).onnx"), configuration: configuration)
  }

  private func head(_ name: String) throws -> DetectionHead {
    try DetectionHead(contentsOf: URL(filePath: "\(Self.folder)/\(name).json"))
  }

  /// An image of the size that the models take.
  private static let blank = try? PixelBuffer(
    width: 64, height: 48, format: .rgb8, bytes: [UInt8](repeating: 90, count: 64 * 48 * 3))

  @Test(arguments: [
    "yolov3", "yolov3_last", "yolov5_maps", "yolov5", "yolov8", "yolov8_last", "yolov8_named", "yolov10", "yolox",
    "separate", "separate_yx", "detr", "suppressed",
  ])
  func decodedBoxesMatchTheVectors(name: String) async throws {
    let hasHead = FileManager.default.fileExists(atPath: "\(Self.folder)/\(name).json")
    let request = try DetectionRequest(
      model: try await model(name), head: hasHead ? try head(name) : nil, labels: hasHead ? nil : Self.labels,
      normalization: hasHead ? nil : .unit)
    let found = try await request.perform(on: try #require(Self.blank))
    let objects = try #require(Self.expected?.heads[name])
    #expect(found.count == objects.count)
    for (observation, object) in zip(found, objects) {
      let box = observation.boundingBox.toImageCoordinates(ImageSize(width: 64, height: 48), origin: .upperLeft)
      let sides = [box.x, box.y, box.x + box.width, box.y + box.height]
      #expect(observation.labels.first?.identifier == object.label)
      #expect(abs(Double(observation.confidence) - object.confidence) < 1e-5)
      #expect(zip(sides, object.box).allSatisfy { abs($0 - $1) < 2e-3 }, "\(sides), expected \(object.box)")
      guard let scores = object.scores else { continue }
      #expect(observation.labels.count == scores.count)
      for label in observation.labels {
        let score = try #require(Self.labels.firstIndex(of: label.identifier).map { scores[$0] })
        #expect(score.map { abs($0 - Double(label.confidence)) < 1e-5 } ?? label.confidence.isNaN)
      }
    }
  }

  @Test func boxesAreCorrectUnderEveryCropAndScale() async throws {
    var request = try DetectionRequest(model: try await model("yolov8"), head: try head("yolov8"))
    // As such models are trained: with bars.
    #expect(request.cropAndScaleAction == .scaleToFit)
    let image = try ImageCodec.decode(path: VisionFixture.scene.path).pixels
    let cases = try #require(Self.expected).placed
    #expect(cases.count == 10)
    for item in cases {
      request.cropAndScaleAction = try #require(ImageCropAndScale(rawValue: item.rule))
      let found = try await request.perform(
        on: image, orientation: try #require(ImageOrientation(rawValue: item.orientation)))
      for (observation, expected) in zip(found, item.boxes) {
        let box = observation.boundingBox
        let sides = [box.origin.x, box.origin.y, box.width, box.height]
        #expect(zip(sides, expected).allSatisfy { abs($0 - $1) < 1e-4 }, "\(item.rule) \(item.orientation)")
      }
    }
  }

  @Test func pipelinesGiveTheSameResultsToBothRequests() async throws {
    let container = try await VisionFixture.container("detector.mlmodel")
    var request = try DetectionRequest(model: container.model)
    for item in try #require(VisionFixture.expected).detect where item.region == nil {
      var plain = CoreMLRequest(model: container)
      plain.cropAndScaleAction = try #require(ImageCropAndScale(rawValue: item.rule))
      request.cropAndScaleAction = plain.cropAndScaleAction
      let handler = ImageRequestHandler(
        VisionFixture.scene, orientation: ImageOrientation(rawValue: item.orientation))
      let (objects, all) = try await handler.perform(request, plain)
      #expect(!objects.isEmpty && objects == all.of(RecognizedObjectObservation.self).top(.max))
    }
  }

  @Test func requestLimitsOverrideTheModelLimits() async throws {
    let heads = [
      try DetectionRequest(model: try await model("yolov8"), head: try head("yolov8")),
      try DetectionRequest(model: try await VisionFixture.container("detector.mlmodel").model),
    ]
    for var request in heads {
      let all = try await request.perform(on: VisionFixture.scene)
      request.maximumOverlap = 0
      let apart = try await request.perform(on: VisionFixture.scene)
      #expect(apart.count < all.count && !apart.isEmpty)
      request.maximumOverlap = 1
      #expect(try await request.perform(on: VisionFixture.scene).count >= all.count)
      request.maximumOverlap = nil
      let least = all[1].confidence
      request.minimumConfidence = least
      #expect(try await request.perform(on: VisionFixture.scene).allSatisfy { $0.confidence >= least })
      request.minimumConfidence = nil
      request.maximumObservationCount = 2
      #expect(try await request.perform(on: VisionFixture.scene) == Array(all.prefix(2)))
      request.minimumConfidence = 1.5
      await #expect(throws: VisionError.self) { try await request.perform(on: VisionFixture.scene) }
    }
  }

  @Test(arguments: [
    ("{", "not JSON"),
    (#"{"version": 1, "family": "yolov8"}"#, "'format' is missing"),
    (#"{"format": "kelvin-curves", "version": 1, "family": "yolov8"}"#, "field 'format': expected \"kelvin-head\""),
    (#"{"format": "kelvin-head", "version": 2, "family": "yolov8"}"#, "field 'version'"),
    (#"{"format": "kelvin-head", "version": 1}"#, "'family' is missing"),
    (#"{"format": "kelvin-head", "version": 1, "family": "yolov7"}"#, "field 'family': expected \"yolov3\""),
    (
      #"{"format": "kelvin-head", "version": 1, "family": "yolov8", "stride": [8]}"#,
      "'stride' is not known; there are"
    ),
    (
      #"{"format": "kelvin-head", "version": 1, "family": "yolov8", "anchors": []}"#,
      "'anchors' does not apply to family"
    ),
    (#"{"format": "kelvin-head", "version": 1, "family": "yolov8", "iou": 45}"#, "field 'iou': expected a number from"),
    (
      #"{"format": "kelvin-head", "version": 1, "family": "yolov8", "confidence": "high"}"#,
      "'confidence': expected a number"
    ),
    (
      #"{"format": "kelvin-head", "version": 1, "family": "yolov8", "labels": [1]}"#,
      "field 'labels[0]': expected a string"
    ),
    (#"{"format": "kelvin-head", "version": 1, "family": "yolov8", "labels": []}"#, "field 'labels': expected names"),
    (#"{"format": "kelvin-head", "version": 1, "family": "yolox", "strides": [8, 0]}"#, "field 'strides'"),
    (
      #"{"format": "kelvin-head", "version": 1, "family": "yolov3", "strides": [8, 16]}"#,
      "field 'anchors': expected anchors for each of 2"
    ),
    (
      #"{"format": "kelvin-head", "version": 1, "family": "yolov3", "strides": [8], "anchors": [[[1, -1]]]}"#,
      "[width, height]"
    ),
    (
      #"{"format": "kelvin-head", "version": 1, "family": "yolov3", "strides": [8], "anchors": [[1, 1]]}"#,
      "field 'anchors[0][0]'"
    ),
  ])
  func invalidHeadFileNamesTheField(text: String, reason: String) throws {
    let folder = TemporaryFolder()
    let path = folder.write(text, "head.json")
    let error = #expect(throws: VisionError.self) { try DetectionHead(contentsOf: URL(filePath: path)) }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    #expect(error?.description.contains("head.json") == true)
  }

  @Test func headMustFitTheModel() async throws {
    func refusal(_ name: String, _ change: (inout DetectionHead) -> Void) async throws -> String {
      var head = try self.head(name)
      change(&head)
      let model = try await model(name)
      let error = #expect(throws: VisionError.self) { try DetectionRequest(model: model, head: head) }
      return error?.description ?? ""
    }
    let cases: [(String, (inout DetectionHead) -> Void, String)] = [
      ("yolov8", { $0.labels = ["a"] }, "expect 5 numbers for a box"),
      ("yolov8", { $0.outputs = ["boxes"] }, "'outputs' 'boxes'; they are 'output0' (1x7x60)"),
      ("yolov8", { $0.layout = .channelsLast }, "got 60"),
      ("yolox", { $0.strides = [8] }, "make 48 boxes, got 60"),
      ("yolov3", { $0.strides = [8, 32] }, "expected a map of 2 rows and 2 columns"),
      ("yolov3", { $0.strides = [8] }, "1 strides, and there are 2 maps"),
      ("yolov3", { $0.strides[0] = 0 }, "expected strides from 1"),
      ("yolov3", { $0.anchors.removeLast() }, "expected some for each stride"),
      ("yolov3", { $0.anchors[0] = [] }, "expected some for each stride"),
      ("yolov8", { $0.maximumCount = -1 }, "a maximum from 0"),
      ("yolov3", { $0.labels = ["a", "b"] }, "with 2 anchors of 7 numbers"),
      ("separate", { $0.countOutput = "how_many" }, "'count' 'how_many'"),
      ("separate", { $0.labels = ["a"] }, "there are 1 labels, the model has 3 classes"),
      (
        "separate", { ($0.scoresOutput, $0.classesOutput) = ("scores", "scores") },
        "expected one number for each of 40 boxes"
      ),
    ]
    for (name, change, reason) in cases {
      let text = try await refusal(name, change)
      #expect(text.contains(reason), "\(name): \(text)")
    }
    let plain = try await model("yolov8")
    let error = #expect(throws: VisionError.self) { try DetectionRequest(model: plain, normalization: .unit) }
    #expect(error?.description.contains("describe its head") == true)
    #expect(error?.description.contains("looks like the family yolov8") == true)
  }

  /// Expected boxes: ONNX Runtime 1.31.1 on Pillow's bilinear resampling, suppressed by NumPy; which samples differently.
  @Test(.enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func realModelFindsFacesInAPhoto() async throws {
    var head = DetectionHead(.boxes)
    (head.unit, head.background, head.labels) = (.shares, .first, ["face"])
    (head.normalization, head.minimumConfidence) = (.symmetric, 0.6)
    let file = SharedFiles.path("models/ultraface_version-RFB-320.onnx")
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try await Model.load(contentsOf: URL(filePath: file), configuration: configuration)
    let request = try DetectionRequest(model: model, head: head)
    let found = try await request.perform(on: URL(filePath: SharedFiles.path("images/photos/face.jpg")))
    let faces = [
      [130.8, 80.2, 91.4, 123.1], [260.2, 47.0, 86.9, 121.2], [438.7, 118.1, 50.5, 66.5], [6.8, 100.6, 43.3, 58.9],
    ]
    #expect(found.count == faces.count)
    for (observation, face) in zip(found, faces) {
      let box = observation.boundingBox.toImageCoordinates(ImageSize(width: 512, height: 355), origin: .upperLeft)
      #expect(zip([box.x, box.y, box.width, box.height], face).allSatisfy { abs($0 - $1) < 4 }, "\(box)")
      #expect(observation.labels.map(\.identifier) == ["face"] && observation.confidence > 0.99)
    }
  }

  @Test func drawingShowsBoxesColorsAndLabels() throws {
    let image = try PixelBuffer(
      width: 200, height: 120, format: .rgb8, bytes: [UInt8](repeating: 128, count: 200 * 120 * 3))
    func object(_ label: String, _ x: Double, _ y: Double) -> RecognizedObjectObservation {
      RecognizedObjectObservation(
        labels: [ClassificationObservation(identifier: label, confidence: 0.5)],
        boundingBox: NormalizedRect(x: x, y: y, width: 0.25, height: 0.25))
    }
    let nowhere = RecognizedObjectObservation(
      labels: [], boundingBox: NormalizedRect(x: .nan, y: 0, width: .infinity, height: 1))
    let far = RecognizedObjectObservation(
      labels: [ClassificationObservation(identifier: "far\u{1B}[2J", confidence: 1)],
      boundingBox: NormalizedRect(x: -1e308, y: -1e308, width: 1.7e308, height: 1.7e308))
    let drawn = try image.drawing(
      [object("heron", 0.25, 0.5), object("otter", 0.625, 0.125), nowhere, far], labels: ["otter", "heron"])
    #expect(drawn.width == 200 && drawn.height == 120)
    func color(_ x: Int, _ y: Int) -> [UInt8] { Array(drawn.bytes[(y * 200 + x) * 3..<(y * 200 + x) * 3 + 3]) }
    // Left sides; y counts from the top here. Orange is the first label's, blue the second's.
    #expect(color(50, 45) == [0x56, 0xB4, 0xE9])
    #expect(color(125, 90) == [0xE6, 0x9F, 0x00])
    // Names stand above their boxes, black on the colour.
    let tag = (50..<130).flatMap { x in (20..<30).map { y in color(x, y) } }
    #expect(tag.contains([0x56, 0xB4, 0xE9]) && tag.contains([0, 0, 0]))
    #expect(color(80, 50) == [128, 128, 128])
  }
}
