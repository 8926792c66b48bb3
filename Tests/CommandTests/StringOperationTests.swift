import TestSupport
import Testing

/// `kelvin answer` and `kelvin embed`.
@Suite struct StringOperationTests {
  private let folder = TemporaryFolder()
  private static let texts = "\(Kelvin.root)/Tests/Text"
  private static let passage = "The captain sailed to the harbour in 1887. She bought a copper clock at night."

  private func run(_ command: String, _ arguments: [String], shell: String? = nil) -> ToolResult {
    Kelvin.run(
      [command, "\(Self.texts)/squad.onnx", "--vocabulary", "\(Self.texts)/vocabulary.txt", "--units", "cpu"]
        + arguments,
      shell: shell)
  }

  @Test func answerIsASpanOfTheText() throws {
    let arguments = ["--question", "Who sailed?", "--top", "3"]
    let result = run("answer", arguments + ["--text", Self.passage, "--json"])
    #expect(result.status == 0, "\(result)")
    let answers = try #require(try JSONValue(result.output)[0]?["answers"]?.array)
    #expect(answers.count == 3)
    for answer in answers {
      let (start, end) = (Int(answer["start"]?.number ?? -1), Int(answer["end"]?.number ?? -1))
      #expect(answer["text"]?.text == String(Array(Self.passage)[start..<end]))
    }
    let file = folder.write(Self.passage, "passage.txt")
    let lines = run("answer", arguments + [file, "-", "--format", "jsonl"], shell: "exec < '\(file)'")
    let documents = try lines.output.split(separator: "\n").map { try JSONValue(String($0)) }
    #expect(
      documents.map { $0["file"]?.text } == [file, "-"] && documents.allSatisfy { $0["answers"]?.array == answers })
    let table = run("answer", arguments + [file])
    #expect(
      table.status == 0 && table.output.contains("QUESTION")
        && table.output.contains(answers[0]["text"]?.text ?? "none"))
  }

  @Test func unreadableFileIsOneErrorAndDoesNotStopTheRest() throws {
    let good = folder.write(Self.passage, "good.txt")
    let latin = folder.write([0x66, 0xE9], "latin.txt")
    let result = run("answer", ["--question", "Who?", latin, "\(folder.path)/absent.txt", good, "--format", "jsonl"])
    #expect(result.status == 65 && result.errorLines.count == 2, "\(result)")
    let documents = try result.output.split(separator: "\n").map { try JSONValue(String($0)) }
    #expect(documents.map { $0["answers"]?.array?.count } == [0, 0, 1])
    #expect(documents[0]["error"]?.text?.contains("not UTF-8") == true)
  }

  @Test func similarTextsComeFirst() throws {
    let lines = folder.write("the copper clock\nthe otter sailed\nbread and butter\n", "lines.txt")
    let result = run("embed", ["--lines", lines, "--like", "the otter sailed", "--json"])
    let documents = try #require(try JSONValue(result.output).array, "\(result)")
    #expect(documents.count == 3 && documents[0]["text"]?.text == "the otter sailed")
    #expect(abs((documents[0]["similarity"]?.number ?? 0) - 1) < 1e-5 && documents[0]["embedding"]?.array?.count == 24)
    let saved = "\(folder.path)/vectors.npy"
    let table = run("embed", ["one otter", "two otters", "--save", saved])
    #expect(table.status == 0 && table.output.contains("1.000"), "\(table)")
    #expect(TemporaryFolder.read(saved).count == 128 + 2 * 24 * 4)
  }

  @Test func answersAndSimilaritiesHaveReportPages() {
    let page = "\(folder.path)/page.html"
    let answers = run("answer", ["--question", "Who <b>sailed</b>?", "--text", Self.passage, "--report", page])
    #expect(answers.status == 0, "\(answers)")
    var text = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(text.contains("Who &lt;b&gt;sailed&lt;/b&gt;?") && text.contains(">Score<"))
    let likeness = run("embed", ["one otter", "two otters", "--like", "otters", "--report", page, "--json"])
    #expect(likeness.status == 0, "\(likeness)")
    text = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(text.contains("<h1>otters</h1>") && text.contains("one otter") && text.contains("among 2 texts"))
  }

  @Test func unsuitableArgumentsAreErrors() {
    for (command, arguments, status, reason) in [
      ("answer", ["--question", "Who?"], 64, "give files"),
      ("answer", ["--question", "Who?", "--text", "x", "--top", "0"], 64, "--top"),
      ("embed", [], 64, "give texts"), ("embed", ["x", "--tokens-input", "words=a"], 64, "--tokens-input takes"),
      ("embed", ["x", "--tokens-input", "ids=absent"], 65, "no input 'absent'"),
      ("embed", ["x", "--model-output", "absent"], 65, "no output 'absent'"),
    ] as [(String, [String], Int32, String)] {
      let result = run(command, arguments)
      #expect(result.status == status && result.errors.contains(reason), "\(arguments): \(result)")
    }
    let other = Kelvin.run("embed", Kelvin.digits, "x", "--vocabulary", "\(Self.texts)/squad.onnx")
    #expect(other.status == 65 && other.errors.contains("vocabulary"), "\(other)")
  }
}
