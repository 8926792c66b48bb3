import KelvinImages
import TestSupport
import Testing

private let folder = "\(Kelvin.root)/Tests/Vision"
private let scene = "\(folder)/scene.png"

@Suite struct DetectTests {
  private static let pipeline = "\(folder)/detector.mlmodel"
  private static let yolo = ["\(folder)/Heads/yolov8.onnx", "--head", "\(folder)/Heads/yolov8.json"]

  private let target = TemporaryFolder()

  private func detect(_ arguments: [String], status: Int32 = 0) throws -> [JSONValue] {
    let result = Kelvin.run(["detect"] + arguments + ["--units", "cpu", "--json"])
    #expect(result.status == status, "\(result)")
    return try #require(try JSONValue(result.output).array)
  }

  private func sides(_ rect: JSONValue?) -> [Double] {
    ["x", "y", "width", "height"].compactMap { rect?[$0]?.number }
  }

  @Test(arguments: [1, 6])
  func objectsHaveNormalizedAndPixelBoxes(orientation: Int) throws {
    let document = TemporaryFolder.read("\(folder)/expected.json")
    let cases = try #require(try JSONValue(String(decoding: document, as: UTF8.self))["detect"]?.array)
    let item = try #require(
      cases.first { $0["rule"]?.text == "scaleToFill" && $0["orientation"]?.number == Double(orientation) })
    let expected = try #require(item["objects"]?.array)
    let answer = try detect([Self.pipeline, scene, "--orientation", "\(orientation)"])[0]
    let size = orientation == 1 ? (48.0, 32.0) : (32.0, 48.0)
    #expect(answer["width"]?.number == size.0 && answer["height"]?.number == size.1)
    let found = try #require(answer["observations"]?.array)
    #expect(found.count == expected.count)
    for object in expected {
      let box = try #require(object["box"]?.array).compactMap(\.number)
      let same = found.first { observation in
        zip(sides(observation["boundingBox"]), box).allSatisfy { abs($0 - $1) < 1e-5 }
      }
      let pixels = sides(same?["pixels"])
      let upper = [box[0] * size.0, (1 - box[1] - box[3]) * size.1, box[2] * size.0, box[3] * size.1]
      #expect(pixels.count == 4 && zip(pixels, upper).allSatisfy { abs($0 - $1) < 1e-3 })
    }
    let confidences = found.compactMap { $0["confidence"]?.number }
    #expect(confidences == confidences.sorted(by: >))
  }

  @Test func classesAndCountLimitTheObjects() throws {
    let all = try #require(try detect(Self.yolo + [scene])[0]["observations"]?.array)
    let herons = all.filter { $0["identifier"]?.text == "heron" }
    #expect(herons.count > 2 && herons.count < all.count)
    let only = try #require(try detect(Self.yolo + [scene, "--only", "heron"])[0]["observations"]?.array)
    #expect(only.count == herons.count && only.allSatisfy { $0["identifier"]?.text == "heron" })
    let two = try #require(try detect(Self.yolo + [scene, "--only", "heron", "--max", "2"])[0]["observations"]?.array)
    #expect(two.map { $0["confidence"]?.number } == herons.prefix(2).map { $0["confidence"]?.number })
    let sure = try #require(try detect(Self.yolo + [scene, "--min-confidence", "0.8"])[0]["observations"]?.array)
    #expect(sure.count == all.count { ($0["confidence"]?.number ?? 0) >= 0.8 } && !sure.isEmpty)
    let apart = try #require(try detect(Self.yolo + [scene, "--iou", "0"])[0]["observations"]?.array)
    #expect(apart.count < all.count)
    let unknown = Kelvin.run(["detect"] + Self.yolo + [scene, "--only", "badger"])
    #expect(unknown.status == 65 && unknown.errors.contains("no class 'badger'; it has otter, heron, reed"))
  }

  @Test func drawingsAreNamedAfterTheirImages() throws {
    let copies = ["a/photo.png", "b/photo.png"].map { target.write(TemporaryFolder.read(scene), $0) }
    let answers = try detect([Self.pipeline] + copies + ["--output-dir", "\(target.path)/out"])
    let paths = answers.compactMap { $0["drawing"]?.text }
    #expect(paths == ["photo", "photo_2"].map { "\(target.path)/out/\($0).objects.png" })
    let (drawn, plain) = (try ImageCodec.decode(path: paths[0]).pixels, try ImageCodec.decode(path: scene).pixels)
    #expect(drawn.width == plain.width && drawn.height == plain.height && drawn.bytes != plain.bytes)
    #expect(TemporaryFolder.read(paths[0]) == TemporaryFolder.read(paths[1]))
    let turned = try detect([Self.pipeline, scene, "--orientation", "6", "--output-dir", "\(target.path)/turned"])
    let upright = try ImageCodec.decode(path: try #require(turned[0]["drawing"]?.text)).pixels
    #expect(upright.width == plain.height && upright.height == plain.width)
  }

  @Test func contactSheetShowsObjectsAndUnreadableImages() throws {
    let broken = target.write("not an image", "broken.png")
    let sheet = "\(target.path)/sheet.html"
    _ = try detect([Self.pipeline, scene, broken, "--sheet", sheet], status: 65)
    let page = String(decoding: TemporaryFolder.read(sheet), as: UTF8.self)
    #expect(page.split(separator: "data:image/jpeg;base64,").count == 2)
    #expect(page.contains("<b>red</b>") || page.contains("<b>green</b>") || page.contains("<b>blue</b>"))
    #expect(page.contains("class=\"fault\"") && page.contains("bytes is unknown") && page.contains("2 images"))
  }

  @Test func folderResultsIncludeFailedImages() throws {
    for name in ["b.png", "a.png"] { target.write(TemporaryFolder.read(scene), "album/\(name)") }
    target.write("not an image", "album/c.png")
    let arguments = ["detect", Self.pipeline, "\(target.path)/album", "--units", "cpu", "--format"]
    let lines = Kelvin.run(arguments + ["jsonl"])
    #expect(lines.status == 65 && lines.errorLines.count == 1)
    let documents = try lines.output.split(separator: "\n").map { try JSONValue(String($0)) }
    #expect(documents.compactMap { $0["image"]?.text?.split(separator: "/").last } == ["a.png", "b.png", "c.png"])
    #expect(
      documents[2]["error"]?.text?.contains("c.png") == true && documents[2]["observations"]?.array?.isEmpty == true)
    let table = Kelvin.run(arguments + ["csv"])
    #expect(table.output.hasPrefix("image,identifier,confidence,x,y,width,height,error\n"))
    let rows = table.output.split(separator: "\n").dropFirst()
    #expect(rows.count == 1 + 2 * (documents[0]["observations"]?.array?.count ?? 0))
    #expect(rows.dropLast().allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == 8 })
    #expect(rows.last?.contains("/album/c.png,,,,,,,\"image '") == true)
  }

  @Test func hugeBoxesAreListedAndClippedInDrawings() throws {
    // Boxes in pixels read as logarithms of sides: e^64 strides wide.
    let arguments = ["\(folder)/Heads/yolov5.onnx", scene, "--head", "\(folder)/Heads/yolox.json"]
    let result = Kelvin.run(["detect"] + arguments + ["--output-dir", target.path])
    #expect(result.status == 0 && result.output.contains("—"), "\(result)")
    #expect(try ImageCodec.decode(path: "\(target.path)/scene.objects.png").pixels.width == 48)
  }

  @Test func classNamesAreEscapedForTerminals() throws {
    let labels = target.write("otter\u{1B}[2J\n<b>heron</b>\n=reed\n", "labels.txt")
    let result = Kelvin.run(["detect"] + Self.yolo + [scene, "--labels", labels, "--output-dir", target.path])
    #expect(result.status == 0 && !result.output.contains("\u{1B}"), "\(result)")
    #expect(result.output.contains("otter\\u{1B}[2J") && result.output.contains("<b>heron</b>"))
  }

  @Test(arguments: [
    (["\(folder)/Heads/yolov8.onnx", "--normalization", "0:1"], 65, "describe its head (--head"),
    (["\(folder)/Heads/suppressed.onnx"], 65, "--normalization"),
    (["\(folder)/Heads/yolov8.onnx", "--head", "\(folder)/expected.json"], 65, "does not describe a detection head"),
    (["\(folder)/Heads/yolov8.onnx", "--head", "/nonexistent/head.json"], 65, "/nonexistent/head.json"),
    (["\(folder)/Heads/yolov10.onnx", "--head", "\(folder)/Heads/yolox.json"], 65, "expect 8 numbers for a box"),
    ([Kelvin.digits], 65, "kelvin classify"),
    (["\(folder)/detector.mlmodel", "--iou", "2"], 64, "'2' is not a share"),
    (["\(folder)/detector.mlmodel", "--max", "0"], 64, "--max must be at least 1"),
  ])
  func unsuitableModelIsRefusedWithARemedy(arguments: [String], status: Int, remedy: String) {
    let result = Kelvin.run(["detect"] + arguments + [scene])
    #expect(result.status == Int32(status), "\(result)")
    #expect(result.errors.contains(remedy) && result.output.isEmpty, "\(result)")
  }
}

@Suite struct PoseCommandTests {
  private static let people = ["\(folder)/Poses/people.onnx", "--normalization", "0:1"]

  private let target = TemporaryFolder()

  @Test func posesHaveNamedJointsAndDrawings() throws {
    let result = Kelvin.run(
      ["pose"] + Self.people + [scene, "--crop-and-scale", "scale-fill", "--output-dir", target.path, "--json"])
    #expect(result.status == 0, "\(result)")
    let answer = try #require(try JSONValue(result.output).array)[0]
    let poses = try #require(answer["observations"]?.array)
    let document = try JSONValue(
      String(decoding: TemporaryFolder.read("\(folder)/Poses/expected.json"), as: UTF8.self))
    let expected = try #require(document["people"]?["multiple"]?.array)
    #expect(poses.count == expected.count)
    for (pose, truth) in zip(poses, expected) {
      for name in ["nose", "leftWrist", "rightAnkle"] {
        let joint = try #require(pose["joints"]?[name])
        let numbers = try #require(truth["joints"]?[name]?.array).compactMap(\.number)
        let (x, y) = (joint["pixel"]?["x"]?.number ?? 0, joint["pixel"]?["y"]?.number ?? 0)
        #expect(abs(x - numbers[0] * 48 / 129) < 1e-3 && abs(y - numbers[1] * 32 / 97) < 1e-3)
        #expect(abs((joint["location"]?["y"]?.number ?? 0) - (1 - y / 32)) < 1e-6)
      }
    }
    let drawn = try ImageCodec.decode(path: try #require(answer["drawing"]?.text)).pixels
    #expect(answer["drawing"]?.text == "\(target.path)/scene.poses.png")
    let plain = try ImageCodec.decode(path: scene).pixels
    #expect(drawn.width == plain.width && drawn.bytes != plain.bytes)
  }

  @Test func optionsLimitTheNumberOfPoses() throws {
    func rows(_ arguments: [String]) -> [Substring] {
      let result = Kelvin.run(["pose"] + Self.people + [scene, "--format", "csv"] + arguments)
      #expect(result.status == 0, "\(result)")
      return Array(result.output.split(separator: "\n").dropFirst())
    }
    #expect(rows([]).count == 3 * 17)
    #expect(rows(["--max-poses", "2"]).count == 2 * 17)
    #expect(rows(["--single"]).count == 17)
    #expect(rows(["--min-confidence", "1"]).isEmpty)
    let both = Kelvin.run(["pose"] + Self.people + [scene, "--single", "--max-poses", "2"])
    #expect(both.status == 64)
    let other = Kelvin.run("pose", "\(folder)/detector.mlmodel", scene)
    #expect(other.status == 65 && other.errors.contains("'heatmap' of 17 channels"), "\(other)")
  }
}
