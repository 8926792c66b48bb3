import KelvinImages
import TestSupport
import Testing

/// `kelvin evaluate` of models that are not classifiers. The models and their image are those of `Tests/Vision`, whose
/// answers NumPy computed.
@Suite struct EvaluateTasksTests {
  private let folder = TemporaryFolder()
  private static let vision = "\(Kelvin.root)/Tests/Vision"
  private static let segmenter = "\(vision)/segmenter.mlpackage"
  private static let (width, height) = (48, 32)

  private func evaluate(_ arguments: String...) -> ToolResult {
    Kelvin.run(["evaluate"] + arguments + ["--units", "cpu"])
  }

  /// The class of each pixel of `scene.png`: blocks of red, green and blue.
  private static func scene() -> [UInt8] {
    var map = [UInt8](repeating: 0, count: width * height)
    for y in 0..<height {
      for x in 0..<width {
        if (4..<16).contains(y), (4..<20).contains(x) { map[y * width + x] = 1 }
        if (16..<28).contains(y), (16..<44).contains(x) { map[y * width + x] = 2 }
        if (2..<12).contains(y), (30..<46).contains(x) { map[y * width + x] = 3 }
      }
    }
    return map
  }

  private func dataset(_ map: [UInt8], _ name: String = "scene") throws {
    let grey = (0..<256).map { IndexedPNG.Color(red: UInt8($0), green: UInt8($0), blue: UInt8($0)) }
    folder.write(TemporaryFolder.read("\(Self.vision)/scene.png"), "set/images/\(name).png")
    folder.write(
      try IndexedPNG.encode(width: Self.width, height: Self.height, indices: map, palette: grey),
      "set/labels/\(name).png")
  }

  private func share(_ result: JSONValue, _ label: String) -> Double? {
    result["classes"]?.array?.first { $0["label"]?.text == label }?["intersectionOverUnion"]?.number
  }

  @Test func labelMapsAreComparedWithASiblingFolder() throws {
    var map = Self.scene()
    try dataset(map, "right")
    // Half of the red block is blue in the ground truth, and the top four rows are ignored.
    for y in 4..<16 { for x in 4..<12 { map[y * Self.width + x] = 3 } }
    for place in 0..<4 * Self.width { map[place] = 255 }
    try dataset(map, "wrong")
    let result = evaluate(Self.segmenter, "\(folder.path)/set", "--json")
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    #expect(document["task"]?.text == "segmentation")
    #expect(document["images"]?.number == 2)
    let one = try #require(document["results"]?[0])
    let (red, blue) = (12.0 * 16, 10.0 * 16)
    // Over both images; two rows of blue in the second are ignored.
    #expect(share(one, "background") == 1)
    #expect(share(one, "red thing") == (2 * red - 96) / (2 * red))
    #expect(share(one, "blue thing") == (2 * blue - 32) / (2 * blue - 32 + 96))
    let all = Double(2 * Self.width * Self.height - 4 * Self.width)
    #expect(one["pixels"]?.number == all)
    #expect(one["pixelAccuracy"]?.number == (all - 96) / all)
    let page = "\(folder.path)/page.html"
    let table = evaluate(Self.segmenter, "\(folder.path)/set", "--report", page)
    #expect(table.output.contains("MEAN IOU") && table.output.contains("is worst at"), "\(table)")
    let text = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(text.contains("blue thing as red thing") && text.contains("data:image/jpeg;base64,"))
  }

  @Test func dataSetClassesAreMatchedByName() throws {
    // The data set numbers the same classes differently.
    try dataset(Self.scene().map { [3, 2, 1, 0][Int($0)] })
    folder.write("blue thing\nclass 2\nRed_Thing\nbackground\n", "set/classes.txt")
    let result = evaluate(Self.segmenter, "\(folder.path)/set", "--json")
    #expect(try JSONValue(result.output)["results"]?[0]?["meanIntersectionOverUnion"]?.number == 1, "\(result)")
    folder.write("blue thing\nclass 2\nRed_Thing\nsky\n", "set/classes.txt")
    let lacking = evaluate(Self.segmenter, "\(folder.path)/set", "--json")
    #expect(lacking.errors.contains("has no answer for 1 of the data set's classes ('sky')"), "\(lacking)")
    #expect(try share(#require(JSONValue(lacking.output)["results"]?[0]), "sky") == 0)
    folder.write("sky\nsea\nsand\nshells\n", "set/classes.txt")
    let strange = evaluate(Self.segmenter, "\(folder.path)/set")
    #expect(strange.status == 65 && strange.errors.contains("none of the data set's 4 classes"), "\(strange)")
  }

  /// The run lengths are pycocotools' of the blue block.
  @Test func polygonsAndRunLengthsGiveLabelMaps() throws {
    let path = folder.write(
      #"""
      {"images": [{"id": 5, "file_name": "scene.png", "width": 48, "height": 32}],
       "categories": [{"id": 10, "name": "blue thing"}, {"id": 2, "name": "red thing"}, {"id": 4, "name": "class 2"}],
       "annotations": [
         {"image_id": 5, "category_id": 2, "segmentation": [[4, 4, 20, 4, 20, 16, 4, 16]]},
         {"image_id": 5, "category_id": 4, "segmentation": [[16, 16, 44, 16, 44, 28], [16, 16, 44, 28, 16, 28]]},
         {"image_id": 5, "category_id": 10, "segmentation": {"size": [32, 48], "counts": "RUNS"}}]}
      """#.replacing("RUNS", with: Self.blueRuns), "set.json")
    folder.write(TemporaryFolder.read("\(Self.vision)/scene.png"), "scene.png")
    let result = evaluate(Self.segmenter, path, "--json")
    #expect(result.status == 0, "\(result)")
    #expect(try JSONValue(result.output)["results"]?[0]?["meanIntersectionOverUnion"]?.number == 1)
  }

  private static let blueRuns = "Rn0:f000000000000000000000000000000n1"

  @Test func unsuitableSegmentationIsOneErrorLine() throws {
    try dataset(Self.scene())
    folder.write(TemporaryFolder.read(Kelvin.image("9_0125.png")), "set/images/small.png")
    folder.write(TemporaryFolder.read("\(folder.path)/set/labels/scene.png"), "set/labels/small.png")
    folder.write(TemporaryFolder.read(Kelvin.image("9_0125.png")), "set/images/lonely.png")
    folder.write(Array(TemporaryFolder.read("\(folder.path)/set/labels/scene.png").prefix(90)), "set/labels/cut.png")
    folder.write(TemporaryFolder.read("\(Self.vision)/scene.png"), "set/images/cut.png")
    let result = evaluate(Self.segmenter, "\(folder.path)/set", "--json")
    #expect(result.status == 65 && result.errorLines.count == 2, "\(result)")
    #expect(result.errors.contains("is 48 x 32, the image"), "\(result)")
    #expect(result.errors.contains("1 image has no label map"), "\(result)")
    #expect(try JSONValue(result.output)["images"]?.number == 1)
    folder.write([0], "bare/images/a.png")
    let bare = evaluate(Self.segmenter, "\(folder.path)/bare")
    #expect(bare.status == 65 && bare.errors.contains("expected a folder with 'images' and 'labels' in it"), "\(bare)")
  }

  @Test func boxesAreComparedWithCOCOAnnotations() throws {
    let detector = "\(Self.vision)/detector.mlmodel"
    let scene = "\(Self.vision)/scene.png"
    let document = TemporaryFolder.read("\(Self.vision)/expected.json")
    let cases = try #require(try JSONValue(String(decoding: document, as: UTF8.self))["detect"]?.array)
    let known = try #require(
      cases.first {
        $0["rule"]?.text == "scaleToFill" && $0["orientation"]?.number == 1 && $0["region"]?.array == nil
      }?["objects"]?.array)
    func annotations(_ shift: Double) throws -> String {
      try known.map { object in
        let box = try #require(object["box"]?.array).compactMap(\.number)
        let scores = try ["red", "green", "blue"].map { try #require(object["scores"]?[$0]?.number) }
        let label = try #require(scores.indices.max { scores[$0] < scores[$1] })
        let (x, y) = (box[0] * 48 + shift, (1 - box[1] - box[3]) * 32)
        return
          #"{"image_id": 1, "category_id": \#(label + 1), "bbox": [\#(x), \#(y), \#(box[2] * 48), \#(box[3] * 32)]}"#
      }.joined(separator: ",")
    }
    func dataset(_ shift: Double, _ name: String) throws -> String {
      folder.write(
        #"""
        {"images": [{"id": 1, "file_name": "\#(scene)"}], "annotations": [\#(try annotations(shift))],
         "categories": [{"id": 1, "name": "red"}, {"id": 2, "name": "green"}, {"id": 3, "name": "blue"}]}
        """#, name)
    }
    let right = evaluate(detector, try dataset(0, "right.json"), "--json")
    #expect(right.status == 0, "\(right)")
    let one = try #require(try JSONValue(right.output)["results"]?[0])
    #expect(try JSONValue(right.output)["task"]?.text == "detection")
    for name in ["averagePrecision", "atHalf", "averageRecall"] {
      #expect(one[name]?.number.map { abs($0 - 1) < 1e-9 } ?? false, "\(right.output)")
    }
    let away = evaluate(detector, try dataset(40, "away.json"), "--json")
    #expect(try JSONValue(away.output)["results"]?[0]?["atHalf"]?.number == 0, "\(away)")
    let page = "\(folder.path)/page.html"
    #expect(evaluate(detector, "\(folder.path)/away.json", "--report", page).status == 0)
    #expect(String(decoding: TemporaryFolder.read(page), as: UTF8.self).contains(" missed, "))
    let none = evaluate(detector, folder.write(#"{"images": [], "annotations": [], "categories": []}"#, "none.json"))
    #expect(none.status == 65 && none.errors.contains("has no boxes"), "\(none)")
  }

  @Test(.slow, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
  func numbersAreComparedWithATable() throws {
    let model = SharedFiles.path("models/boston_linear.mlmodel")
    let names = (1...13).map(String.init)
    var lines = ["target," + names.joined(separator: ",")]
    let errors = [0.5, -1.5, 2, 0]
    for (row, error) in errors.enumerated() {
      let fields = names.indices.map { Double(row + 1) * Double($0 + 1) / 4 }
      let inputs = zip(names, fields).flatMap { ["--input", "\($0)=\($1)"] }
      let outputs = ["--output-dir", "\(folder.path)/outputs"]
      let said = Kelvin.run(["predict", model] + inputs + outputs + ["--units", "cpu", "--json"])
      let answer = try #require(try JSONValue(said.output)["outputs"]?["0"]?["value"]?.number, "\(said)")
      lines.append("\(answer - error)," + fields.map { "\($0)" }.joined(separator: ","))
    }
    let path = folder.write(lines.joined(separator: "\n"), "rows.csv")
    let result = evaluate(model, path, "--json")
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    #expect(document["task"]?.text == "regression")
    let one = try #require(document["results"]?[0])
    func isClose(_ name: String, _ expected: Double) -> Bool {
      one[name]?.number.map { abs($0 - expected) < 1e-9 } ?? false
    }
    #expect(isClose("meanAbsoluteError", 1) && isClose("largestError", 2), "\(result.output)")
    #expect(isClose("rootMeanSquareError", (6.5 / 4).squareRoot()), "\(result.output)")
    let without = evaluate(model, folder.write("target,1,2\n1,2,3\n", "few.csv"))
    #expect(without.status == 65 && without.errors.contains("': there is no column for the input '3'"), "\(without)")
    let empty = evaluate(
      model, folder.write(lines[0] + "\n1," + String(repeating: ",1", count: 12) + "\n", "empty.csv"))
    #expect(empty.status == 65 && empty.errors.contains("empty.csv', line 2, column '1': it is empty"), "\(empty)")
    let text = evaluate(model, folder.write(lines[0] + "\n1,a" + String(repeating: ",1", count: 12) + "\n", "text.csv"))
    #expect(
      text.status == 65 && text.errors.contains("text.csv', line 2, column '1': expected a number, got 'a'"), "\(text)")
    let short = evaluate(model, folder.write(lines[0] + "\n1,2\n", "short.csv"))
    #expect(short.status == 65 && short.errors.contains("line 2: it has 2 cells, expected 14"), "\(short)")
  }

  /// `Tests/Vectors/Classical` has a model of the four numbers `a` to `d`.
  @Test func rowsAreReadTheWayPredictReadsThem() throws {
    let model = "\(Kelvin.root)/Tests/Vectors/Classical/linear.mlmodel"
    let rows = "a,b,c,d\r\n\"1\",2,3,4\r\n5, 6 ,7,8\r\n"
    let predicted = Kelvin.run(["predict", model, "--csv", folder.write(rows, "in.csv"), "--units", "cpu"])
    let answers = predicted.output.split(separator: "\n").dropFirst()
    try #require(answers.count == 2, "\(predicted)")
    let table = "\u{FEFF}y,a,b,c,d\r\n\(answers[1]),\"1\",2,3,4\r\n\(answers[2]),5, 6 ,7,8\r\n"
    let result = evaluate(model, folder.write(table, "rows.csv"), "--json")
    let one = try #require(try JSONValue(result.output)["results"]?[0], "\(result)")
    #expect(one["target"]?.text == "y" && one["largestError"]?.number == 0, "\(result.output)")
  }

  @Test func headOptionSelectsTheDetectionTask() throws {
    let heads = "\(Self.vision)/Heads"
    let document = #"""
      {"images": [{"id": 1, "file_name": "\#(Self.vision)/scene.png"}], "categories": [{"id": 1, "name": "otter"}],
       "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9]}]}
      """#
    let set = folder.write(document, "set.json")
    let result = evaluate("\(heads)/separate.onnx", set, "--head", "\(heads)/separate.json", "--json")
    #expect(try JSONValue(result.output)["task"]?.text == "detection", "\(result)")
  }

  @Test func imageBesideItsTableKeepsItsName() {
    folder.write("picture,class\nabsent.png,nine\n", "set.csv")
    let result = Kelvin.run(
      ["evaluate", Kelvin.digitsPackage, "set.csv", "--units", "cpu"], shell: "cd '\(folder.path)'")
    #expect(result.status == 65 && result.errors.contains("absent.png") && !result.errors.contains("./"), "\(result)")
  }

  @Test func resultIsPrintedWhenTheDiskIsFull() {
    let set = "\(Kelvin.root)/Tests/Vectors/Classical/linear.mlmodel"
    let rows = folder.write("a,b,c,d,y\n1,2,3,4,5\n", "rows.csv")
    let result = evaluate(set, rows, "--report", "/dev/full")
    #expect(result.status == 70 && result.output.contains("MAE"), "\(result)")
  }

  @Test func unsuitableTaskIsRefused() throws {
    let set = folder.write("a.png,x\n", "set.csv")
    let result = evaluate(Self.segmenter, set, "--task", "classification")
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
    let unknown = evaluate(Self.segmenter, set, "--task", "poetry")
    #expect(unknown.status == 64 && unknown.errors.contains("use classification, segmentation"), "\(unknown)")
  }
}
