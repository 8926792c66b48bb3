import Glibc
import KelvinImages
import TestSupport
import Testing

/// `kelvin compress` of segmenters and detectors, and what it measures besides answers. The models and their image are
/// those of `Tests/Vision`.
@Suite struct CompressTasksTests {
  private let folder = TemporaryFolder()
  private static let vision = "\(Kelvin.root)/Tests/Vision"
  private static let segmenter = "\(vision)/wide_segmenter.mlpackage"
  private static let detector = "\(vision)/wide_detector.mlpackage"
  private static let scene = "\(vision)/scene.png"
  private static let (width, height) = (48, 32)

  private func compress(_ model: String, _ copy: String, _ arguments: String...) -> ToolResult {
    Kelvin.run(["compress", model, "\(folder.path)/\(copy).mlpackage"] + arguments + ["--units", "cpu", "--json"])
  }

  private func figure(_ result: ToolResult) throws -> JSONValue {
    #expect(result.status == 0, "\(result)")
    return try #require(try JSONValue(result.output)["measured"]?["figure"], "\(result)")
  }

  /// A data set of the scene with its label map: blocks of red, green and blue.
  private func labelMaps() throws -> String {
    var map = [UInt8](repeating: 0, count: Self.width * Self.height)
    for y in 0..<Self.height {
      for x in 0..<Self.width {
        if (4..<16).contains(y), (4..<20).contains(x) { map[y * Self.width + x] = 1 }
        if (16..<28).contains(y), (16..<44).contains(x) { map[y * Self.width + x] = 2 }
        if (2..<12).contains(y), (30..<46).contains(x) { map[y * Self.width + x] = 3 }
      }
    }
    let grey = (0..<256).map { IndexedPNG.Color(red: UInt8($0), green: UInt8($0), blue: UInt8($0)) }
    folder.write(TemporaryFolder.read(Self.scene), "set/images/scene.png")
    folder.write(
      try IndexedPNG.encode(width: Self.width, height: Self.height, indices: map, palette: grey),
      "set/labels/scene.png")
    return "\(folder.path)/set"
  }

  private func plainImages() -> String {
    for name in ["a", "b"] { folder.write(TemporaryFolder.read(Self.scene), "plain/\(name).png") }
    return "\(folder.path)/plain"
  }

  private var head: String {
    folder.write(
      #"""
      {"format": "kelvin-head", "version": 1, "family": "yolov8", "labels": ["red", "green", "blue"],
       "confidence": 0.4, "iou": 0.25, "perClass": false}
      """#, "head.json")
  }

  /// The objects that NumPy finds in the scene, as a COCO document.
  private func boxes() throws -> String {
    let document = TemporaryFolder.read("\(Self.vision)/expected.json")
    let cases = try #require(try JSONValue(String(decoding: document, as: UTF8.self))["detect"]?.array)
    let known = try #require(
      cases.first {
        $0["rule"]?.text == "scaleToFill" && $0["orientation"]?.number == 1 && $0["region"]?.array == nil
      }?["objects"]?.array)
    let annotations = try known.map { object in
      let box = try #require(object["box"]?.array).compactMap(\.number)
      let scores = try ["red", "green", "blue"].map { try #require(object["scores"]?[$0]?.number) }
      let label = try #require(scores.indices.max { scores[$0] < scores[$1] })
      let (x, y) = (box[0] * 48, (1 - box[1] - box[3]) * 32)
      return #"{"image_id": 1, "category_id": \#(label + 1), "bbox": [\#(x), \#(y), \#(box[2] * 48), \#(box[3] * 32)]}"#
    }
    return folder.write(
      #"""
      {"images": [{"id": 1, "file_name": "\#(Self.scene)"}], "annotations": [\#(annotations.joined(separator: ","))],
       "categories": [{"id": 1, "name": "red"}, {"id": 2, "name": "green"}, {"id": 3, "name": "blue"}]}
      """#, "boxes.json")
  }

  @Test func labelMapsMeasureASegmenter() throws {
    let set = try labelMaps()
    let close = try figure(compress(Self.segmenter, "close", "--form", "palette-8", "--data", set))
    #expect(close["name"]?.text == "Mean IoU" && close["isAgreement"]?.bool == false)
    #expect(close["valueBefore"]?.number == 1 && close["value"]?.number == 1 && close["images"]?.number == 1)
    let coarse = try figure(compress(Self.segmenter, "coarse", "--form", "palette-1", "--data", set))
    #expect(coarse["value"]?.number.map { $0 < 0.9 } == true, "\(coarse)")
    // A loss of nothing keeps more bits than that.
    let found = compress(Self.segmenter, "found", "--max-loss", "0", "--data", set)
    #expect(try figure(found)["value"]?.number == 1)
    #expect(try JSONValue(found.output)["weights"]?[0]?["form"]?.text != "palette-1")
  }

  @Test func boxesMeasureADetector() throws {
    let set = try boxes()
    let close = try figure(
      compress(
        Self.detector, "close", "--form", "palette-8", "--data", set, "--head", head, "--crop-and-scale", "scale-fill"))
    #expect(close["name"]?.text == "AP" && close["isAgreement"]?.bool == false, "\(close)")
    #expect(close["valueBefore"]?.number.map { $0 > 0.99 } == true, "\(close)")
    #expect(close["value"]?.number.map { $0 > 0.99 } == true, "\(close)")
    let coarse = try figure(
      compress(
        Self.detector, "coarse", "--form", "prune-99", "--data", set, "--head", head, "--crop-and-scale", "scale-fill"))
    #expect(coarse["value"]?.number.map { $0 < 0.9 } == true, "\(coarse)")
  }

  @Test func theOriginalsAnswersStandForLabels() throws {
    let images = plainImages()
    let result = compress(Self.segmenter, "close", "--form", "palette-8", "--data", images)
    #expect(result.errors.contains("has no labels for segmentation"), "\(result)")
    let close = try figure(result)
    #expect(close["isAgreement"]?.bool == true && close["value"]?.number == 1 && close["images"]?.number == 2)
    let coarse = try figure(compress(Self.segmenter, "coarse", "--form", "palette-1", "--data", images))
    #expect(coarse["valueBefore"]?.number == 1 && coarse["value"]?.number.map { $0 < 0.9 } == true, "\(coarse)")
    let boxes = try figure(compress(Self.detector, "boxes", "--form", "palette-8", "--data", images, "--head", head))
    #expect(boxes["isAgreement"]?.bool == true && boxes["value"]?.number.map { $0 > 0.99 } == true, "\(boxes)")
    let table = Kelvin.run(
      "compress", Self.segmenter, "\(folder.path)/text.mlpackage", "--form", "palette-1", "--data", images,
      "--units", "cpu")
    #expect(table.output.contains("Mean IoU") && table.output.contains("with the original's answers"), "\(table)")
  }

  /// The scores of a model without classes have those of a file.
  @Test(.enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func fileOfClassesMeasuresAModel() throws {
    let model = SharedFiles.path("models/mnist.onnx")
    let labels = folder.write((0...9).map { "\($0)\n" }.joined(), "labels.txt")
    let lines = ["0_0030.png,0", "1_0011.png,1", "7_0043.png,7", "9_0125.png,9"].map { "\(Kelvin.image($0))\n" }
    let set = folder.write("image,label\n\(lines.joined())", "digits.csv")
    let result = Kelvin.run(
      "compress", model, "\(folder.path)/copy.onnx", "--form", "float16", "--data", set, "--labels", labels,
      "--units", "cpu", "--json")
    let found = try figure(result)
    #expect(found["name"]?.text == "Top-1" && found["images"]?.number == 4, "\(result)")
    #expect(found["value"]?.number == found["valueBefore"]?.number, "\(result)")
  }

  /// The outputs change less if the elements count by the values that they multiply.
  @Test func importanceLowersTheChange() throws {
    func measured(_ copy: String, _ arguments: String...) throws -> (change: Double, errors: [Double]) {
      let result = Kelvin.run(
        ["compress", Kelvin.digitsPackage, "\(folder.path)/\(copy).mlpackage", "--form", "palette-2"] + arguments
          + ["--data", "\(Kelvin.root)/Examples/Digits/images", "--units", "cpu", "--json"])
      #expect(result.status == 0, "\(result)")
      let document = try JSONValue(result.output)
      let weights = try #require(document["weights"]?.array)
      return (
        try #require(document["measured"]?["change"]?.number), weights.compactMap { $0["relativeError"]?.number }
      )
    }
    let (plain, weighted) = (try measured("plain"), try measured("weighted", "--importance"))
    #expect(zip(plain.errors, weighted.errors).allSatisfy { $0 <= $1 * (1 + 1e-6) }, "\(plain), \(weighted)")
    #expect(plain.errors != weighted.errors && weighted.change < 0.95 * plain.change, "\(plain), \(weighted)")
  }

  @Test func pageHasTheCostsOnEachDevice() throws {
    let page = "\(folder.path)/page.html"
    let result = compress(
      Self.segmenter, "copy", "--budget", "9kB", "--data", try labelMaps(), "--report", page, "--goal", "latency")
    #expect(result.status == 0, "\(result)")
    #expect(try JSONValue(result.output)["bytes"]?.number.map { $0 <= 9000 } == true, "\(result)")
    let text = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(text.contains("Time and memory on this machine") && text.contains("Mean IoU"))
    #expect(text.ranges(of: #"<td class="words">cpu</td>"#).count >= 2, "the original and the copy")
  }
}
