import Glibc
import KelvinBasics
import TestSupport
import Testing

/// `kelvin compress`.
@Suite struct CompressTests {
  private let folder = TemporaryFolder()
  private static let digits = [
    "0_0030.png": "zero", "0_0049.png": "zero", "1_0011.png": "one", "7_0043.png": "seven", "9_0125.png": "nine",
  ]

  private var copy: String { "\(folder.path)/copy.mlpackage" }

  private func compress(_ arguments: String...) -> ToolResult {
    Kelvin.run(["compress", Kelvin.digitsPackage, copy] + arguments)
  }

  private func dataset() -> String {
    let lines = Self.digits.map { "\(Kelvin.image($0)),\($1)\n" }.sorted().joined()
    return folder.write("image,label\n\(lines)", "set.csv")
  }

  @Test func oneFormMakesASmallerCopy() throws {
    let result = compress("--form", "palette-4")
    #expect(result.status == 0 && result.output.contains("palette-4"), "\(result)")
    #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(result.output)")
    let answer = Kelvin.run("classify", copy, Kelvin.image("9_0125.png"), "--units", "cpu", "--json")
    #expect(answer.status == 0 && answer.output.contains("\"nine\""), "\(answer)")
  }

  @Test func budgetAndImagesChooseFormsThatCanBeGivenBack() throws {
    let forms = "\(folder.path)/forms.json"
    let result = compress("--budget", "90kB", "--data", dataset(), "--units", "cpu", "--save-forms", forms, "--json")
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    let bytes = try #require(document["bytes"]?.number)
    #expect(bytes <= 90_000 && document["bytesBefore"]?.number.map { $0 > 150_000 } == true)
    #expect(document["measured"]?["samples"]?.number == 5 && document["measured"]?["rightBefore"]?.number == 5)
    let chosen = try #require(document["weights"]?.array).map { $0["form"]?.text }
    #expect(Set(chosen).count > 1)
    let again = Kelvin.run(
      "compress", Kelvin.digitsPackage, "\(folder.path)/again.mlpackage", "--forms", forms, "--json")
    #expect(try JSONValue(again.output)["bytes"]?.number == bytes, "\(again)")
  }

  /// A folder of images without classes, a line of inputs, and forms that only iOS 18 reads.
  @Test func copiesAreComparedWithoutClasses() throws {
    for name in Self.digits.keys {
      folder.write(TemporaryFolder.read(Kelvin.image(name)), "images/\(name)")
    }
    let images = compress(
      "--budget", "95kB", "--ios", "18", "--data", "\(folder.path)/images", "--units", "cpu", "--json")
    #expect(images.status == 0 && images.errors.contains("has no folders of classes"), "\(images)")
    let document = try JSONValue(images.output)
    #expect(document["iOS"]?.number == 18 && document["bytes"]?.number.map { $0 <= 95_000 } == true)
    #expect(document["measured"]?["samples"]?.number == 5 && document["measured"]?["labelled"] == nil)
    #expect(document["measured"]?["cosine"]?.number.map { $0 > 0.5 && $0 < 1 } == true, "\(images)")
    let lines = folder.write(
      #"{"image": "images/9_0125.png"}"# + "\n\n" + #"{"image": "images/1_0011.png"}"#, "x.jsonl")
    let other = "\(folder.path)/other.mlpackage"
    let text = Kelvin.run("compress", Kelvin.digitsPackage, other, "--form", "int4", "--data", lines, "--units", "cpu")
    #expect(text.status == 0 && text.output.contains("iOS 18 or later"), "\(text)")
    #expect(text.output.contains("of 2 labels are the original's"), "\(text)")
    let foreign = folder.write("image,label\n\(Kelvin.image("9_0125.png")),zebra\n", "foreign.csv")
    let none = Kelvin.run(
      "compress", Kelvin.digitsPackage, "\(folder.path)/fourth.mlpackage", "--form", "int4", "--data", foreign)
    #expect(none.status == 65 && none.errors.contains("is a label of the model: 'zebra'; it has 'zero'"), "\(none)")
    let wrong = folder.write(#"{"image": "images/9_0125.png"}"# + "\n[]", "wrong.jsonl")
    let refused = Kelvin.run(
      "compress", Kelvin.digitsPackage, "\(folder.path)/third.mlpackage", "--form", "int4", "--data", wrong)
    #expect(refused.status == 65 && refused.errors.contains("line 2 is not a JSON object"), "\(refused)")
  }

  /// A product of 64 x 48 weights, whose elements are in the model or in another file.
  @Test(arguments: [nil, "weights.bin"]) func formsOfONNXModelsCompute(location: String?) throws {
    var generator = SeededGenerator(seed: 51)
    let weights = (0..<64 * 48).map { _ in Float.random(in: -1...1, using: &generator) }
    if let location { folder.write(weights.withUnsafeBytes { Array($0) }, location) }
    let model = folder.write(ONNXFile.product(weights, [64, 48], in: location), "product.onnx")
    let row = (0..<64).map { Float($0 % 7) - 3 }
    let expected = (0..<48).map { column in
      row.enumerated().reduce(0.0) { $0 + Double($1.element) * Double(weights[$1.offset * 48 + column]) }
    }
    let length = expected.reduce(0.0) { $0 + $1 * $1 }
    let input = folder.write(NumPyFile.bytes(shape: [1, 64], float32: { row[$0] }), "row.npy")
    let line = folder.write(#"{"x": [[\#(row.map { "\($0)" }.joined(separator: ","))]]}"#, "row.jsonl")
    for (form, share, error) in [("float16", 0.55, 1e-6), ("int8", 0.36, 1e-3), ("int4-block-32", 0.25, 0.03)] {
      let copy = "\(folder.path)/\(form).onnx"
      let result = Kelvin.run("compress", model, copy, "--form", form, "--data", line, "--units", "cpu", "--json")
      #expect(result.status == 0, "\(result)")
      let document = try JSONValue(result.output)
      #expect(document["bytes"]?.number.map { $0 < share * 4 * 64 * 48 } == true, "\(form): \(result.output)")
      let change = try #require(document["measured"]?["change"]?.number)
      #expect(change > 0 && change < error, "\(form): \(change)")
      let answer = Kelvin.run(
        "predict", copy, "--input", "x=\(input)", "--units", "cpu", "--output-dir", "\(folder.path)/\(form)")
      #expect(answer.status == 0, "\(answer)")
      let bytes = TemporaryFolder.read("\(folder.path)/\(form)/y.npy").suffix(4 * 48)
      let found = Array(bytes).withUnsafeBytes { bytes in
        (0..<48).map { Double(bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self)) }
      }
      let difference = zip(found, expected).reduce(0.0) { sum, pair in
        sum + (pair.0 - pair.1) * (pair.0 - pair.1)
      }
      #expect(difference > 0 && difference < error * length, "\(form): \(difference / length)")
    }
    let refused = Kelvin.run("compress", model, "\(folder.path)/p.onnx", "--form", "palette-4")
    #expect(refused.status == 65 && refused.errors.contains("an ONNX model takes float16, int8"), "\(refused)")
  }

  @Test func budgetChoosesFormsOfAnONNXModel() throws {
    let copy = "\(folder.path)/digits.onnx"
    let result = Kelvin.run(
      "compress", Kelvin.digits, copy, "--budget", "150kB", "--data", dataset(), "--units", "cpu", "--json")
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    let bytes = try #require(document["bytes"]?.number)
    #expect(bytes <= 150_000 && bytes == Double(TemporaryFolder.read(copy).count) && document["iOS"] == nil)
    let answer = Kelvin.run("classify", copy, Kelvin.image("9_0125.png"), "--units", "cpu", "--json")
    #expect(answer.status == 0 && answer.output.contains("\"nine\""), "\(answer)")
  }

  @Test func pageShowsTheSizesThatWereMeasured() throws {
    let page = "\(folder.path)/page.html"
    let result = compress("--budget", "90kB", "--data", dataset(), "--units", "cpu", "--report", page)
    #expect(result.status == 0 && result.errors.contains("wrote"), "\(result)")
    let text = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(text.contains("against the size") && text.contains("Form of each weight"))
    #expect(text.ranges(of: "<h2>").count == 3, "no heading without a section")
    #expect(text.contains("samples are too few for a difference of two points"))
    let tag = "<span class=\"tag\">pick</span>"
    #expect(text.ranges(of: tag).count == 1)
    #expect(text.ranges(of: "<tr><th scope=\"row\">").count > 3)
  }

  @Test(.slow) func smallestCopyWithinALossIsFound() throws {
    let result = compress("--max-loss", "0", "--data", dataset(), "--units", "cpu", "--json")
    let measured = try #require(try JSONValue(result.output)["measured"])
    #expect(measured["right"]?.number == measured["rightBefore"]?.number, "\(result)")
    #expect(try JSONValue(result.output)["bytes"]?.number.map { $0 < 140_000 } == true, "\(result)")
  }

  /// Wrong requests, their exit status and a part of the message.
  private static let refusals: [(arguments: [String], status: Int32, part: String)] = [
    ([], 64, "give one of --form"),
    (["--form", "palette-5"], 64, "'palette-5' is not a form"),
    (["--form", "int8", "--budget", "1MB"], 64, "not several"),
    (["--max-loss", "1"], 64, "--max-loss needs --data"),
    (["--form", "int8", "--report", "page.html"], 64, "--report needs --data"),
    (["--form", "int8", "--importance"], 64, "--importance needs --data"),
    (["--budget", "1MB", "--goal", "latency"], 64, "--goal latency needs --data"),
    (["--form", "int8", "--data", "x", "--goal", "latency"], 64, "--goal latency needs --data, and --budget"),
    (["--budget", "1MB", "--data", "x", "--goal", "fast"], 64, "'fast'"),
    (["--budget", "1MB", "--ios", "17"], 64, "'17' is not 16 or 18"),
    (["--max-loss", "many", "--data", "x"], 64, "'many' is not a number of points"),
    (["--budget", "0"], 64, "not a size above 0"),
    (["--budget", "1kB"], 65, "the smallest forms take"),
    (["--forms", "/absent.json"], 65, "/absent.json"),
    (["--budget", "90kB", "--data", "/absent"], 65, "/absent"),
  ]

  @Test(arguments: refusals.indices) func refusesWrongRequests(index: Int) {
    let refusal = Self.refusals[index]
    let result = Kelvin.run(["compress", Kelvin.digitsPackage, copy] + refusal.arguments)
    #expect(result.status == refusal.status && result.errors.contains(refusal.part), "\(result)")
    #expect(result.errorLines.count == 1 && access(copy, F_OK) != 0, "\(result)")
  }

  @Test func filesOfFormsAreChecked() {
    for (text, part) in [
      (#"{"format": "kelvin-forms", "version": 1, "forms": {"absent": "int8"}}"#, "no weight 'absent'"),
      (#"{"format": "other", "version": 1, "forms": {}}"#, "'other'"), ("{", "forms"),
    ] {
      let result = compress("--forms", folder.write(text, "forms.json"))
      #expect(result.status == 65 && result.errors.contains(part), "\(result)")
      #expect(result.errorLines.count == 1, "\(result)")
    }
  }

  @Test func existingCopyIsKept() {
    folder.write("mine", "copy.mlpackage")
    let result = compress("--form", "int8")
    #expect(result.status != 0 && result.errors.contains("copy.mlpackage"), "\(result)")
    #expect(TemporaryFolder.read(copy) == Array("mine".utf8))
  }
}
