import Glibc
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

  @Test(.slow) func smallestCopyWithinALossIsFound() throws {
    let result = compress("--max-loss", "0", "--data", dataset(), "--units", "cpu", "--json")
    let measured = try #require(try JSONValue(result.output)["measured"])
    #expect(measured["right"]?.number == measured["rightBefore"]?.number, "\(result)")
    #expect(try JSONValue(result.output)["bytes"]?.number.map { $0 < 140_000 } == true, "\(result)")
  }

  /// Wrong requests, their exit status and a part of the message.
  private static let refusals: [(arguments: [String], status: Int32, part: String)] = [
    ([], 64, "give one of --form"),
    (["--form", "palette-5"], 64, "'palette-3' is not a form"),
    (["--form", "int8", "--budget", "1MB"], 64, "not several"),
    (["--max-loss", "1"], 64, "--max-loss needs --data"),
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
