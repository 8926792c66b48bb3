import TestSupport
import Testing

/// Names that are equal only by Unicode's canonical equivalence.
@Suite struct EquivalentNameTests {
  private let folder = TemporaryFolder()
  private static let (composed, decomposed) = ("\u{E9}", "e\u{301}")

  private func predict(_ names: [(input: String, output: String)], _ arguments: [String]) -> ToolResult {
    let model = folder.write(ONNXFile.rectifiers(names, [1, 2]), "model.onnx")
    return Kelvin.run(["predict", model, "--units", "cpu", "--output-dir", "\(folder.path)/out", "--json"] + arguments)
  }

  private func array(_ name: String, _ numbers: [Float]) -> String {
    folder.write(NumPyFile.bytes(shape: [1, 2], float32: { numbers[$0] }), name)
  }

  private func firstNumber(_ path: String) -> Float? {
    let bytes = TemporaryFolder.read(path)
    guard bytes.count >= 8 else { return nil }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: bytes.count - 8, as: Float.self) }
  }

  @Test func inputsAndOutputsAreToldApartByTheirBytes() throws {
    let (one, two) = (array("one.npy", [1, 2]), array("two.npy", [3, 4]))
    let given = [["--input", "\(Self.composed)=\(one)"], ["--input", "\(Self.decomposed)=\(two)"]]
    for inputs in [given.flatMap { $0 }, given.reversed().flatMap { $0 }] {
      let result = predict([(Self.composed, "a\(Self.composed)"), (Self.decomposed, "a\(Self.decomposed)")], inputs)
      #expect(result.status == 0, "\(result)")
      let outputs = try JSONValue(result.output)["outputs"]
      // The second of two equivalent names is shown escaped.
      for (name, number) in [("a\(Self.composed)", 1), ("ae\\u{301}", 3)] as [(String, Float)] {
        #expect(firstNumber(outputs?[name]?["file"]?.text ?? "") == number, "\(name): \(result)")
      }
    }
    let shapes = ["--shape", "\(Self.composed)=1x2", "--shape", "\(Self.decomposed)=1x2"]
    let shaped = predict([(Self.composed, "y"), (Self.decomposed, "z")], given.flatMap { $0 } + shapes)
    #expect(shaped.status == 0, "\(shaped)")
    let shown = predict(
      [(Self.composed, "y"), (Self.decomposed, "z")],
      ["--input", "\(Self.composed)=\(one)", "--input", "e\\u{301}=\(two)"])
    #expect(shown.status == 0, "\(shown)")
  }

  @Test func equivalentNameOfNoInputIsRefused() {
    let one = array("one.npy", [1, 2])
    let result = predict([(Self.composed, "y")], ["--input", "\(Self.decomposed)=\(one)"])
    #expect(result.status == 65 && result.errors.contains("the model has no input 'e\\u{301}'"), "\(result)")
    let shaped = predict(
      [(Self.composed, "y")], ["--input", "\(Self.composed)=\(one)", "--shape", "\(Self.decomposed)=1x2"])
    #expect(shaped.status == 65 && shaped.errors.contains("no such input"), "\(shaped)")
    #expect(predict([(Self.decomposed, "y")], ["--input", "\(Self.decomposed)=\(one)"]).status == 0)
  }

  @Test func pinsAreToldApart() throws {
    let names = [("x", "a\(Self.composed)"), ("y", "a\(Self.decomposed)")]
    let model = folder.write(ONNXFile.rectifiers(names, [1, 2]), "pins.onnx")
    let (composed, decomposed) = ("node of a\(Self.composed)", "node of a\(Self.decomposed)")
    for (pins, devices) in [
      (["\(decomposed)=reference"], ["cpu", "reference"]), (["\(composed)=reference"], ["reference", "cpu"]),
      (["\(composed)=reference", "\(decomposed)=cpu"], ["reference", "cpu"]),
    ] {
      let result = Kelvin.run(["plan", model, "--units", "cpu,reference", "--json"] + pins.flatMap { ["--pin", $0] })
      #expect(result.status == 0, "\(result)")
      let layers = try #require(try JSONValue(result.output)["nodes"]?.array, "\(result)")
      func device(_ name: String) -> String? { layers.first { $0["name"]?.text == name }?["device"]?.text }
      #expect(device(composed) == devices[0] && device("node of ae\\u{301}") == devices[1], "\(pins): \(result)")
    }
    let other = folder.write(ONNXFile.rectifiers([("x", "a\(Self.composed)")], [1, 2]), "other.onnx")
    let refused = Kelvin.run("plan", other, "--units", "cpu,reference", "--pin", "\(decomposed)=cpu")
    #expect(refused.status != 0 && refused.errors.contains("no node is called 'node of ae\\u{301}'"), "\(refused)")
  }

  @Test func classesOfADataSetAreToldApart() throws {
    for (image, name) in [("0_0030.png", Self.composed), ("9_0125.png", Self.decomposed)] {
      folder.write(TemporaryFolder.read(Kelvin.image(image)), "data/\(name)/\(image)")
    }
    let labels = [Self.composed] + (1...8).map { "\($0)" } + [Self.decomposed]
    let file = folder.write(labels.joined(separator: "\n"), "labels.txt")
    let result = Kelvin.run(
      "evaluate", Kelvin.digits, "\(folder.path)/data", "--labels", file, "--units", "cpu", "--json")
    let one = try #require(try JSONValue(result.output)["results"]?[0], "\(result)")
    #expect(one["top1"]?["value"]?.number == 1 && one["classes"]?.array?.count == 2, "\(result)")
  }

  @Test func columnsOfATableAreToldApart() {
    let model = "\(Kelvin.root)/Tests/Vectors/Classical/linear.mlmodel"
    let input = folder.write("\(Self.composed),\(Self.decomposed),b,c,d\n1,2,3,4,5\n", "in.csv")
    let result = Kelvin.run(
      "predict", model, "--csv", input, "--columns", "a=\(Self.decomposed)", "--keep", Self.composed, "--units", "cpu")
    let same = folder.write("k,a,b,c,d\n1,2,3,4,5\n", "same.csv")
    let expected = Kelvin.run("predict", model, "--csv", same, "--keep", "k", "--units", "cpu")
    #expect(result.status == 0 && expected.status == 0, "\(result) \(expected)")
    #expect(result.output.split(separator: "\n").last == expected.output.split(separator: "\n").last)
  }
}
