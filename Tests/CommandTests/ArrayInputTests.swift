import TestSupport
import Testing

/// `kelvin predict --input` with arrays of strings and booleans.
@Suite struct ArrayInputTests {
  private let folder = TemporaryFolder()
  private static let vectors = "\(Kelvin.root)/Tests/Vectors/Arrays"

  private func predict(_ model: String, _ value: String) -> ToolResult {
    Kelvin.run(
      "predict", "\(Self.vectors)/\(model).onnx", "--input", "x=\(value)", "--output-dir", folder.path, "--units", "cpu"
    )
  }

  private func text(_ name: String) -> String {
    String(decoding: TemporaryFolder.read("\(folder.path)/\(name)"), as: UTF8.self)
  }

  @Test func stringsOfAnArrayFileReachTheModel() {
    for name in ["unicode_little", "unicode_big", "unicode_columns", "bytes"] {
      let result = predict("strings", "\(Self.vectors)/\(name).npy")
      #expect(result.status == 0, "\(result)")
      let written = text("y.json").unicodeScalars.filter { $0 != " " && $0 != "\n" }
      #expect(
        written.elementsEqual(
          "[[\"\u{E9}\",\"e\u{301}\",\"\"],[\"a\\u0000b\",\"\u{1F600}\",\"longstring\"]]".unicodeScalars),
        "\(name): \(text("y.json"))")
    }
  }

  @Test func absentAndUnsuitableArrayFilesAreErrors() {
    for (model, value, reason) in [
      ("strings", "/nowhere/absent.npy", "/nowhere/absent.npy"),
      ("strings", "\(Self.vectors)/objects.npy", "array.astype('U')"),
      ("strings", "\(Self.vectors)/f4_big_columns.npy", "array.astype('U')"),
      ("numbers", "\(Self.vectors)/bytes.npy", "array.astype('float32')"),
    ] {
      let result = predict(model, value)
      #expect(result.status == 65 && result.errors.contains(reason), "\(model) \(value): \(result)")
    }
  }

  @Test func booleansAreWords() {
    for (word, expected) in [("true", 1), ("True", 1), ("1", 1), ("false", 0), ("False", 0)] as [(String, UInt8)] {
      let result = predict("booleans", word)
      #expect(result.status == 0, "\(result)")
      #expect(TemporaryFolder.read("\(folder.path)/y.npy").last == expected, "\(word)")
    }
    #expect(predict("booleans", "yes").status == 65)
    #expect(predict("numbers", "true").status == 65)
  }

  @Test func booleansInTablesAreWords() {
    let input = folder.write("x\n\"[[true, false]]\"\n", "in.csv")
    let result = Kelvin.run(
      "predict", "\(Self.vectors)/booleans.onnx", "--csv", input, "--units", "cpu", "--shape", "x=1x2")
    #expect(result.status == 0 && result.output == "y\n\"[1,0]\"\n", "\(result)")
    let numbers = Kelvin.run(
      "predict", "\(Self.vectors)/numbers.onnx", "--csv", input, "--units", "cpu", "--shape", "x=1x2")
    #expect(numbers.status == 65 && numbers.errors.contains("expected numbers, got true"), "\(numbers)")
  }
}
