import KelvinImages
import TestSupport
import Testing

private let folder = "\(Kelvin.root)/Tests/Vision"

/// Expected maps: NumPy (`Tests/Vision/scene.py`).
@Suite struct SegmentTests {
  private static let scene = "\(folder)/scene.png"
  private static let package = "\(folder)/segmenter.mlpackage"
  private static let tensorModel = "\(folder)/segmenter.onnx"

  private let target = TemporaryFolder()

  private func segment(_ arguments: [String]) throws -> [JSONValue] {
    let result = Kelvin.run(["segment"] + arguments + ["--output-dir", target.path, "--units", "cpu", "--json"])
    #expect(result.status == 0, "\(result)")
    return try #require(try JSONValue(result.output).array)
  }

  /// The chunk of a PNG file.
  private func chunk(_ kind: String, _ file: [UInt8]) -> [UInt8] {
    var at = 8
    while at + 12 <= file.count {
      let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      if Array(kind.utf8) == Array(file[at + 4..<at + 8]) { return Array(file[at + 8..<at + 8 + length]) }
      at += 12 + length
    }
    return []
  }

  /// A label map as rows of digits, "." for 255, read back through libvips and the file's own palette.
  private func rows(_ path: String) throws -> [String] {
    let file = TemporaryFolder.read(path)
    let palette = chunk("PLTE", file)
    let pixels = try ImageCodec.decode(file, name: path).pixels
    return (0..<pixels.height).map { y in
      (0..<pixels.width).map { x in
        let color = Array(pixels.bytes[(y * pixels.width + x) * 3..<(y * pixels.width + x) * 3 + 3])
        let index = (0..<palette.count / 3).first { Array(palette[$0 * 3..<$0 * 3 + 3]) == color }
        return index == 255 ? "." : index.map(String.init) ?? "?"
      }.joined()
    }
  }

  @Test(arguments: [
    ("centerCrop", "center-crop"), ("scaleToFit", "scale-fit"), ("scaleToFill", "scale-fill"),
    ("scaleToFitPlus90CCWRotation", "scale-fit-rotate-90-ccw"),
    ("scaleToFillPlus90CCWRotation", "scale-fill-rotate-90-ccw"),
  ])
  func mapsMatchTheImageUnderEveryCropAndScale(rule: String, option: String) throws {
    let document = TemporaryFolder.read("\(folder)/expected.json")
    let cases = try #require(try JSONValue(String(decoding: document, as: UTF8.self))["segment"]?.array)
    for item in cases where item["rule"]?.text == rule {
      let orientation = Int(item["orientation"]?.number ?? 0)
      let expected = try #require(item["rows"]?.array).compactMap(\.text)
      for model in [[Self.package], [Self.tensorModel, "--normalization", "0:1"]] {
        let result = try segment(model + [Self.scene, "--crop-and-scale", option, "--orientation", "\(orientation)"])[0]
        #expect(result["width"]?.number == Double(expected[0].count))
        let path = try #require(result["labelMap"]?.text)
        #expect(path == "\(target.path)/scene.labels.png")
        #expect(try rows(path) == expected, "\(model), orientation \(orientation)")
        let unseen = expected.joined().filter { $0 == "." }.count
        #expect((result["unseen"]?.number ?? 0) == Double(unseen) / Double(expected.joined().count))
      }
    }
  }

  @Test func everyOutputLayoutGivesTheExpectedMap() throws {
    let document = try JSONValue(
      String(decoding: TemporaryFolder.read("\(folder)/expected.json"), as: UTF8.self))
    let item = try #require(
      document["segment"]?.array?.first { $0["rule"]?.text == "scaleToFill" && $0["orientation"]?.number == 1 })
    let expected = try #require(item["rows"]?.array).compactMap(\.text)
    let redOrNot = try #require(document["redOrNot"]?.array).compactMap(\.text)
    #expect(redOrNot != expected)
    let model = ["\(folder)/segmenter_forms.onnx", "--normalization", "0:1", Self.scene]
    for (output, rows) in [
      (nil, expected), ("scores", expected), ("channels_last", expected), ("decided", expected),
      ("red", redOrNot), ("red_or_not", redOrNot),
    ] {
      let result = try segment(model + (output.map { ["--output", $0] } ?? []))[0]
      #expect(try self.rows(try #require(result["labelMap"]?.text)) == rows, "\(output ?? "none named")")
    }
  }

  @Test func classesHaveLabelsColorsAndShares() throws {
    let parts = try #require(try segment([Self.package, Self.scene])[0]["classes"]?.array)
    #expect(parts.map { $0["label"]?.text } == ["background", "class 2", "red thing", "blue thing"])
    #expect(parts.map { $0["color"]?.text } == ["#000000", "#00A0A0", "#804000", "#F0E040"])
    #expect(parts.map { $0["index"]?.number } == [0, 2, 1, 3])
    #expect(parts.map { $0["pixels"]?.number } == [848, 336, 192, 160])
    #expect(abs(parts.compactMap { $0["share"]?.number }.reduce(0, +) - 1) < 1e-12)
    let map = TemporaryFolder.read("\(target.path)/scene.labels.png")
    // Eight bits, indexed.
    #expect(Array(chunk("IHDR", map)[8..<10]) == [8, 3])
    #expect(Array(chunk("PLTE", map).prefix(12)) == [0, 0, 0, 0x80, 0x40, 0, 0, 0xA0, 0xA0, 0xF0, 0xE0, 0x40])
  }

  @Test func modelWithoutColorsGetsThePalette() throws {
    let labels = target.write("nothing\nred\ngreen\nblue\n", "labels.txt")
    let parts = try #require(
      try segment([Self.tensorModel, "--normalization", "0:1", "--labels", labels, Self.scene])[0]["classes"]?.array)
    #expect(Set(parts.compactMap { $0["label"]?.text }) == ["nothing", "red", "green", "blue"])
    let colors = Dictionary(uniqueKeysWithValues: parts.map { (Int($0["index"]?.number ?? -1), $0["color"]?.text) })
    #expect(colors == [0: "#000000", 1: "#E69F00", 2: "#56B4E9", 3: "#009E73"])
  }

  @Test func overlayShowsImageClassesAndLegend() throws {
    let result = try segment([Self.package, Self.scene])[0]
    let overlay = try ImageCodec.decode(path: try #require(result["overlay"]?.text)).pixels
    let scene = try ImageCodec.decode(path: Self.scene).pixels
    #expect(overlay.width >= scene.width)
    // Four classes, a line each, and a margin.
    #expect(overlay.height >= scene.height + 4 * 13)
    func color(_ image: PixelBuffer, _ x: Int, _ y: Int) -> [UInt8] {
      Array(image.bytes[(y * image.width + x) * 3..<(y * image.width + x) * 3 + 3])
    }
    // The background is left alone; inside a class the image shows through; its edge is the colour itself.
    #expect(color(overlay, 25, 5) == color(scene, 25, 5))
    let inside = color(overlay, 10, 8).map(Int.init)
    #expect(zip(inside, [220, 30, 30]).allSatisfy { $0 != $1 })
    #expect(
      zip(zip(inside, [220, 30, 30]), [0x80, 0x40, 0]).allSatisfy { pair, own in
        (min(pair.1, own)...max(pair.1, own)).contains(pair.0)
      })
    #expect(color(overlay, 4, 4) == [0x80, 0x40, 0])
    let legend = overlay.bytes[(scene.height * overlay.width * 3)...]
    let colors = Set(stride(from: legend.startIndex, to: legend.endIndex, by: 3).map { Array(legend[$0..<$0 + 3]) })
    for own: [UInt8] in [[0, 0, 0], [0x80, 0x40, 0], [0, 0xA0, 0xA0], [0xF0, 0xE0, 0x40], [255, 255, 255]] {
      #expect(colors.contains(own), "\(own)")
    }
  }

  @Test func contactSheetListsTheBackgroundLast() throws {
    let sheet = "\(target.path)/sheet.html"
    let result = Kelvin.run("segment", Self.package, Self.scene, "--units", "cpu", "--sheet", sheet)
    #expect(result.status == 0, "\(result)")
    let page = String(decoding: TemporaryFolder.read(sheet), as: UTF8.self)
    #expect(page.contains("data:image/jpeg;base64,") && page.contains("<b>class 2</b>"), "\(result.output)")
    #expect(page.contains("<span>background "))
  }

  @Test func filesOfEquallyNamedImagesAreNumbered() throws {
    let bytes = TemporaryFolder.read(Self.scene)
    let paths = ["a/photo 1.png", "b/photo 1.png", "c/photo_1.jpeg"].map { target.write(bytes, $0) }
    let results = try segment([Self.package] + paths)
    #expect(results.map { $0["image"]?.text } == paths)
    let names = ["photo_1", "photo_1_2", "photo_1_3"]
    #expect(results.map { $0["labelMap"]?.text } == names.map { "\(target.path)/\($0).labels.png" })
    #expect(results.map { $0["overlay"]?.text } == names.map { "\(target.path)/\($0).overlay.png" })
    let first = TemporaryFolder.read("\(target.path)/photo_1.overlay.png")
    #expect(!first.isEmpty && first == TemporaryFolder.read("\(target.path)/photo_1_2.overlay.png"))
  }

  @Test func unreadableImageDoesNotStopTheOthers() throws {
    let broken = target.write("not an image", "broken.png")
    let result = Kelvin.run("segment", Self.package, broken, Self.scene, "--output-dir", target.path, "--json")
    #expect(result.status == 65)
    #expect(result.errorLines.count == 1)
    let answers = try #require(try JSONValue(result.output).array)
    #expect(answers[0]["error"]?.text?.contains("broken.png") == true)
    #expect(answers[1]["labelMap"]?.text != nil)
  }

  @Test(arguments: [
    (["--units", "cpu", Kelvin.digits], 65, "kelvin classify"),
    (["\(folder)/segmenter.onnx"], 65, "--normalization"),
    (["\(folder)/segmenter.mlpackage", "--output", "depth"], 65, "has no output 'depth'"),
    (["\(folder)/segmenter.mlpackage", "--normalization", "0:1"], 64, "leave the normalization out"),
    (["\(folder)/segmenter.mlpackage", "--crop-and-scale", "stretch"], 64, "scale-fill"),
    (["\(folder)/detector.mlmodel"], 65, "boxes"),
  ])
  func unsuitableModelIsRefusedWithARemedy(arguments: [String], status: Int, remedy: String) {
    let result = Kelvin.run(["segment"] + arguments + [Self.scene, "--output-dir", target.path])
    #expect(result.status == Int32(status), "\(result)")
    #expect(result.errors.contains(remedy), "\(result)")
    #expect(result.output.isEmpty)
  }
}
