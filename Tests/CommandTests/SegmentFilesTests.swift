import KelvinImages
import TestSupport
import Testing

/// The inputs and outputs of `kelvin segment`.
@Suite struct SegmentFilesTests {
  private static let folder = "\(Kelvin.root)/Tests/Vision"
  private static let scene = "\(folder)/scene.png"

  private let target = TemporaryFolder()

  private func segment(_ arguments: [String]) -> ToolResult {
    Kelvin.run(["segment", "\(Self.folder)/segmenter.mlpackage"] + arguments + ["--units", "cpu"])
  }

  private func documents(_ arguments: [String]) throws -> [JSONValue] {
    let result = segment(arguments + ["--json"])
    #expect(result.status == 0, "\(result)")
    return try #require(try JSONValue(result.output).array)
  }

  private func put(_ name: String) -> String { target.write(TemporaryFolder.read(Self.scene), name) }

  private func json(_ path: String?) throws -> JSONValue {
    try JSONValue(String(decoding: TemporaryFolder.read(path ?? ""), as: UTF8.self))
  }

  @Test func onlySharesArePrintedWithoutAFolder() throws {
    let result = try documents([Self.scene])[0]
    #expect(result["classes"]?.array?.count == 4 && result["width"]?.number == 48)
    #expect(result["labelMap"] == nil && result["overlay"] == nil)
    let table = segment([Self.scene])
    #expect(table.status == 0 && table.output.contains("red thing") && !table.output.contains(".png\n"), "\(table)")
  }

  @Test func requestedKindsOfFilesAreWritten() throws {
    let output = "\(target.path)/out"
    let result = try documents(
      [Self.scene, "--output-dir", output, "--write", "labels,overlay,masks,polygons,rle,counts"])[0]
    #expect(result["polygons"]?.text == "\(output)/scene.geojson")
    let classes = try #require(result["classes"]?.array)
    #expect(
      classes.map { $0["mask"]?.text }
        == [
          "0-background", "2-class_2", "1-red_thing", "3-blue_thing",
        ].map { "\(output)/scene.\($0).mask.png" })
    for entry in classes {
      let mask = try ImageCodec.decode(path: try #require(entry["mask"]?.text)).pixels
      let inside = stride(from: 0, to: mask.bytes.count, by: 3).filter { mask.bytes[$0] == 255 }.count
      #expect((mask.width, mask.height) == (48, 32) && Double(inside) == entry["pixels"]?.number)
      #expect(mask.bytes.allSatisfy { $0 == 0 || $0 == 255 })
    }
    let polygons = try json(result["polygons"]?.text)
    #expect(polygons["features"]?.array?.map { $0["properties"]?["label"]?.text } == classes.map { $0["label"]?.text })
    let (text, numbers) = (try json(result["rle"]?.text), try json(result["counts"]?.text))
    #expect(text.array?.map { $0["area"]?.number } == classes.map { $0["pixels"]?.number })
    #expect(text[0]?["segmentation"]?["counts"]?.text != nil && text[0]?["segmentation"]?["size"]?[0]?.number == 32)
    let counts = try #require(numbers[0]?["segmentation"]?["counts"]?.array).compactMap(\.number)
    #expect(counts.reduce(0, +) == 48 * 32)
    #expect(TemporaryFolder.entries(output)?.count == 9)
  }

  @Test func outlinesCanBeSimplified() throws {
    func corners(_ extra: [String]) throws -> Int {
      let arguments = [Self.scene, "--output-dir", target.path, "--write", "polygons"] + extra
      let features = try #require(try json(try documents(arguments)[0]["polygons"]?.text)["features"]?.array)
      return features.compactMap { $0["geometry"]?["coordinates"]?.array }.joined().compactMap(\.array).joined()
        .compactMap { $0.array?.count }.reduce(0, +)
    }
    #expect(try corners(["--simplify", "12"]) < corners([]))
    #expect(try corners(["--simplify", "0"]) == corners([]))
  }

  @Test func onlyChosenLabelsAreListedAndDrawn() throws {
    let arguments = [Self.scene, "--output-dir", target.path, "--only", "blue thing", "--only", "class 2"]
    let result = try documents(arguments)[0]
    #expect(result["classes"]?.array?.map { $0["label"]?.text } == ["class 2", "blue thing"])
    #expect(result["classes"]?[0]?["share"]?.number == 336 / 1536 && result["unseen"] == nil)
    let unknown = segment([Self.scene, "--only", "blue things"])
    #expect(unknown.status == 65 && unknown.output.isEmpty, "\(unknown)")
    #expect(unknown.errorLines.count == 1 && unknown.errors.contains("did you mean 'blue thing'?"), "\(unknown)")
  }

  @Test func labelsAndColorsAreReadFromFiles() throws {
    let labels = target.write("ground\nroof\nlawn\n\u{1B}[31msky,\"blue\"\n", "labels.txt")
    let colors = target.write("\n#010203\n\n#0A0B0C\n", "colors.txt")
    let parts = try #require(
      try documents([Self.scene, "--labels", labels, "--colors", colors])[0]["classes"]?.array)
    #expect(parts.map { $0["label"]?.text } == ["ground", "lawn", "roof", "\u{1B}[31msky,\"blue\""])
    // Without a given colour, the colour of a model without colours is used.
    #expect(parts.map { $0["color"]?.text } == ["#000000", "#56B4E9", "#010203", "#0A0B0C"])
    let rows = segment([Self.scene, "--labels", labels, "--format", "csv"]).output.split(separator: "\n")
    #expect(rows[0] == "image,index,label,share,pixels,color,error" && rows.count == 5)
    #expect(rows[4].contains(",3,\"\\u{1B}[31msky,\"\"blue\"\"\",") && !rows[4].contains("\u{1B}"))
    let wrong = segment([Self.scene, "--colors", target.write("#000000\nred\n", "wrong.txt")])
    #expect(wrong.status == 65 && wrong.errors.contains("line 2: 'red'"), "\(wrong)")
  }

  @Test func foldersPatternsAndStandardInputKeepTheirOrder() throws {
    _ = (put("photos/b.png"), put("photos/deep/a.png"), put("x1.png"), put("x2.png"))
    let output = "\(target.path)/out"
    let results = try documents(["\(target.path)/x?.png", "\(target.path)/photos", "--output-dir", output])
    #expect(
      results.map { $0["image"]?.text }
        == ["x1.png", "x2.png", "photos/b.png", "photos/deep/a.png"].map {
          "\(target.path)/\($0)"
        })
    #expect(Set(results.compactMap { $0["overlay"]?.text }).count == 4)
    let piped = Kelvin.run(
      ["\(Self.folder)/segmenter.mlpackage", output, Self.scene],
      script: "exec \"$0\" segment \"$1\" - --units cpu --output-dir \"$2\" --format jsonl < \"$3\"")
    #expect(try JSONValue(piped.output)["labelMap"]?.text == "\(output)/stdin.labels.png", "\(piped)")
  }

  @Test func failedImageIsOneErrorInEveryFormat() throws {
    let good = put("good.png")
    let bad = target.write("no image", "bad, one.png")
    let files = [bad, good, "\(target.path)/absent.png", "\(target.path)/no*.png"]
    let lines = segment(files + ["--format", "jsonl", "--output-dir", "\(target.path)/out"])
    #expect(lines.status == 65 && lines.errorLines.count == 3, "\(lines)")
    let documents = try lines.output.split(separator: "\n").map { try JSONValue(String($0)) }
    #expect(documents.map { $0["image"]?.text } == files)
    #expect(documents.map { $0["error"] == nil } == [false, true, false, false])
    #expect(documents[1]["overlay"]?.text == "\(target.path)/out/good.overlay.png")
    let table = segment(files + ["--format", "csv"])
    let rows = table.output.split(separator: "\n")
    #expect(table.status == 65 && rows.count == 1 + 3 + 4, "\(table)")
    #expect(rows[1].hasPrefix("\"\(target.path)/bad, one.png\",,,,,,"))
  }

  @Test func resultsOfManyImagesKeepTheirOrder() throws {
    let bytes = TemporaryFolder.read(Self.scene)
    let paths = (0..<70).map { target.write($0 % 9 == 4 ? Array(bytes.prefix(60)) : bytes, "in/\($0).png") }
    let result = segment(paths + ["--output-dir", "\(target.path)/out", "--json"])
    let results = try #require(try JSONValue(result.output).array)
    #expect(result.status == 65)
    #expect(results.map { $0["image"]?.text } == paths)
    #expect(results.map { $0["error"] != nil } == (0..<70).map { $0 % 9 == 4 })
  }

  @Test func pngLevelSetsTheCompression() throws {
    func size(_ level: Int) throws -> (Int, PixelBuffer) {
      let arguments = [Self.scene, "--output-dir", target.path, "--write", "overlay", "--png-level", "\(level)"]
      let path = try #require(try documents(arguments)[0]["overlay"]?.text)
      return (TemporaryFolder.read(path).count, try ImageCodec.decode(path: path).pixels)
    }
    let (plain, small) = (try size(0), try size(9))
    #expect(small.0 * 4 < plain.0 && small.1 == plain.1)
  }

  @Test(arguments: [
    (["--write", "labels"], "--output-dir"), (["--write", "images", "--output-dir", "out"], "masks, polygons"),
    (["--simplify", "1"], "--write polygons"), (["--png-level", "10"], "0 to 9"),
    (["--json", "--format", "csv"], "contradict"),
    (["--write", "polygons", "--output-dir", "out", "--simplify", "-1"], "of at least 0"),
  ])
  func invalidOptionsAreWrongUsage(arguments: [String], remedy: String) {
    let result = segment([Self.scene] + arguments)
    #expect(result.status == 64 && result.errors.contains(remedy) && result.output.isEmpty, "\(result)")
  }

  /// A camera's images, each turned by its own EXIF orientation.
  @Test(.slow, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func mapsFollowTheEXIFOrientation() throws {
    let paths = (1...8).map { SharedFiles.path("images/exif/Portrait_\($0).jpg") }
    let results = try documents(paths + ["--output-dir", target.path])
    let maps = try results.map { try ImageCodec.decode(path: try #require($0["labelMap"]?.text)).pixels }
    for (map, result) in zip(maps, results) {
      #expect((map.width, map.height) == (1200, 1800))
      #expect((result["width"]?.number, result["height"]?.number) == (1200, 1800))
      // They were compressed one by one.
      let same = stride(from: 0, to: map.bytes.count, by: 3).filter {
        map.bytes[$0..<$0 + 3] == maps[0].bytes[$0..<$0 + 3]
      }
      #expect(same.count * 100 > 97 * map.width * map.height, "\(same.count)")
    }
  }
}
