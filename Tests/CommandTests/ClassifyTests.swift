import TestSupport
import Testing

/// `kelvin classify` and `kelvin use`.
@Suite struct ClassifyTests {
  private let folder = TemporaryFolder()

  private func put(_ name: String, _ image: String) -> String {
    folder.write(TemporaryFolder.read(Kelvin.image(image)), name)
  }

  private var home: [String: String] { ["XDG_CONFIG_HOME": "\(folder.path)/config"] }

  private func classify(_ arguments: [String]) -> ToolResult {
    Kelvin.run(["classify", Kelvin.digitsPackage] + arguments + ["--units", "cpu", "--top", "1"])
  }

  @Test func foldersPatternsAndFilesKeepTheirOrder() throws {
    _ = put("b/nine.png", "9_0125.png")
    _ = put("b/a/nought.png", "0_0030.png")
    _ = put("x1.jpg", "3_0103.jpg")
    _ = put("x2.png", "7_0044.png")
    let single = put("x[3].png", "9_0128.png")
    let result = classify([single, "\(folder.path)/x?.*", "\(folder.path)/b", "--json"])
    let documents = try #require(try JSONValue(result.output).array)
    #expect(
      documents.map { $0["image"]?.text }
        == ["x[3].png", "x1.jpg", "x2.png", "b/a/nought.png", "b/nine.png"].map { "\(folder.path)/\($0)" })
    #expect(
      documents.map { $0["observations"]?[0]?["identifier"]?.text } == ["nine", "three", "seven", "zero", "nine"])
  }

  @Test func failedImageIsOneErrorInEveryFormat() throws {
    let good = put("nine.png", "9_0125.png")
    let bad = folder.write("no, \"image\"", "bad, \"one\".png")
    let files = [bad, good, "\(folder.path)/absent.png", "\(folder.path)/none*.png"]
    let lines = classify(files + ["--format", "jsonl"])
    #expect(lines.status == 65 && lines.errorLines.count == 3, "\(lines)")
    let documents = try lines.output.split(separator: "\n").map { try JSONValue(String($0)) }
    #expect(documents.map { $0["error"] == nil } == [false, true, false, false])
    #expect(documents.map { $0["observations"]?.array?.count } == [0, 1, 0, 0])
    #expect(documents.map { $0["image"]?.text } == files)
    let table = classify(files + ["--format", "csv"])
    let rows = table.output.split(separator: "\n").map(String.init)
    #expect(table.status == 65 && rows.count == 5, "\(table)")
    #expect(rows[0] == "image,identifier,confidence,error")
    #expect(rows[1].hasPrefix("\"\(folder.path)/bad, \"\"one\"\".png\",,,\""))
    #expect(rows[2].hasPrefix("\(good),nine,0."))
    let document = try #require(try JSONValue(classify(files + ["--json"]).output).array)
    #expect(document == documents)
  }

  @Test func resultsOfManyImagesKeepTheirOrder() throws {
    let names = (0..<80).map { number in put("\(number).png", number.isMultiple(of: 3) ? "9_0125.png" : "0_0030.png") }
    let documents = try #require(try JSONValue(classify(names + ["--json"]).output).array)
    #expect(documents.map { $0["image"]?.text } == names)
    #expect(
      documents.map { $0["observations"]?[0]?["identifier"]?.text }
        == names.indices.map { $0.isMultiple(of: 3) ? "nine" : "zero" })
  }

  @Test func imageIsReadFromStandardInput() throws {
    let result = Kelvin.run(
      [Kelvin.digitsPackage, Kelvin.image("9_0125.png")],
      script: "exec \"$0\" classify \"$1\" - --units cpu --json < \"$2\"")
    #expect(result.status == 0, "\(result)")
    #expect(try JSONValue(result.output)[0]?["observations"]?[0]?["identifier"]?.text == "nine")
  }

  @Test func labelsBelowTheConfidenceAreHidden() throws {
    let image = put("nine.png", "9_0125.png")
    let sure = Kelvin.run(
      "classify", Kelvin.digitsPackage, image, "--units", "cpu", "--min-confidence", "0.5", "--json")
    #expect(try JSONValue(sure.output)[0]?["observations"]?.array?.map { $0["identifier"]?.text } == ["nine"])
    let precise = Kelvin.run("classify", Kelvin.digitsPackage, image, "--units", "cpu", "--min-precision", "0.5")
    #expect(precise.status == 65 && precise.errors.contains("--min-confidence"), "\(precise)")
  }

  @Test func defaultModelIsUsedWhenNoneIsNamed() throws {
    let image = put("nine.png", "9_0125.png")
    let before = Kelvin.run(["classify", image], environment: home)
    #expect(before.status == 65 && before.errors.contains("kelvin use"), "\(before)")
    #expect(Kelvin.run(["use"], environment: home).output.contains("no default model"))
    let chosen = Kelvin.run(["use", Kelvin.digitsPackage, "--json"], environment: home)
    #expect(try JSONValue(chosen.output)["model"]?.text == Kelvin.digitsPackage, "\(chosen)")
    let result = Kelvin.run(["classify", image, "--units", "cpu", "--json"], environment: home)
    #expect(try JSONValue(result.output)[0]?["observations"]?[0]?["identifier"]?.text == "nine", "\(result)")
    // A model that is named goes before it, and one that cannot be used does not take its place.
    let refused = Kelvin.run(["use", "\(Kelvin.root)/Tests/Vision/detector.mlmodel"], environment: home)
    #expect(refused.status == 65, "\(refused)")
    #expect(Kelvin.run(["use"], environment: home).output.contains("Digits.mlpackage"))
    #expect(Kelvin.run(["use", "--none"], environment: home).status == 0)
    #expect(Kelvin.run(["classify", image], environment: home).status == 65)
  }
}
