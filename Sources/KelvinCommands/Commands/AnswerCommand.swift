import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinTables
import KelvinText

struct AnswerCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer",
    abstract: "Answers questions with pieces of a text, by a model such as BERT trained on SQuAD.",
    discussion: """
      'kelvin answer Squad.onnx --vocabulary vocab.txt --question "Who wrote it?" book.txt'. A text that is longer than the \
      model takes is read in windows that overlap, and the best pieces of all of them are compared. Scores are shares of 1 \
      among the pieces of a window; places count Unicode scalars from the text's start.
      """)

  @Argument(help: .model)
  var model: String

  @Argument(help: ArgumentHelp("Files to look for answers in; - for standard input.", valueName: "file"))
  var files: [String] = []

  @Option(help: ArgumentHelp("A text to look for answers in, in place of files.", valueName: "text"))
  var text: String?

  @Option(help: ArgumentHelp("What is asked. Repeatable.", valueName: "text"))
  var question: [String] = []

  @Option(help: ArgumentHelp("How many answers to show.", valueName: "n"))
  var top = 1

  @Option(help: ArgumentHelp("How results are printed: table or jsonl.", valueName: "form"))
  var format: TextFormat = .table

  @Option(help: ArgumentHelp("The most tokens of a window. (default: 384, or what the model takes)", valueName: "n"))
  var window: Int?

  @Option(
    help: ArgumentHelp("Tokens that a window has in common with the one before it. (default: 128)", valueName: "n"))
  var overlap: Int?

  @Option(help: ArgumentHelp("The most tokens of an answer.", valueName: "n"))
  var longest = 15

  @Flag(help: "Let the answer be that there is none.")
  var mayHaveNone = false

  @OptionGroup var page: ReportOption
  @OptionGroup var tokens: TextModelOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !question.isEmpty else { throw ValidationError("--question says what is asked") }
    guard files.isEmpty != (text == nil) else {
      throw ValidationError("name files to look for answers in, or give a --text")
    }
    for (name, value) in [("top", top), ("longest", longest), ("window", window ?? 8)] where value < 1 {
      throw ValidationError("--\(name) takes a number from 1, got \(value)")
    }
    if let overlap, overlap < 0 { throw ValidationError("--overlap takes a number from 0, got \(overlap)") }
    try output.validate(beside: format)
  }

  /// The answers to a question from a file, or the error.
  private struct Result {
    var file: String?
    var question: String
    var answers: [TextAnswer] = []
    var error: String?

    var document: JSONObject {
      [
        "file": file, "question": question, "error": error,
        "answers": answers.map { answer -> JSONObject in
          [
            "text": answer.text, "score": answer.score, "start": answer.range?.lowerBound,
            "end": answer.range?.upperBound,
          ]
        },
      ]
    }
  }

  func run() throws {
    let tokenizer = try tokens.tokenizer()
    let loaded = try tokens.model(model, try options.configuration(units: units.units))
    var reader = try QuestionAnswering(loaded, tokenizer, inputs: tokens.inputs)
    if output.verbose { Console.note("the model's parts: \(reader.summary)") }
    reader.windowLength = window ?? reader.windowLength
    reader.overlap = overlap ?? min(reader.overlap, reader.windowLength / 2)
    reader.longestAnswer = longest
    reader.allowsNoAnswer = mayHaveNone
    var results: [Result] = []
    let progress = Progress("reading")
    let sources: [String?] = text == nil ? files : [nil]
    for (index, file) in sources.enumerated() {
      progress.update(Double(index) / Double(sources.count), file ?? "")
      for result in try answered(file, reader) {
        if let error = result.error { Console.error(error) }
        results.append(result)
        if format == .jsonl {
          Progress.makeWay()
          try printJSONLine(result.document)
        }
      }
    }
    progress.finish()
    loaded.remarks.forEach(Console.note)
    if output.json { try printJSON(results.map(\.document)) } else if format == .table { show(results) }
    try page.write(
      ResultPage(
        title: "Answers", summary: files.isEmpty ? "from a text" : "from \(counted(files.count, "file"))",
        tables: [.init(table(results))]))
    if results.contains(where: { $0.error != nil }) { throw ReportedFailure(status: .badData) }
  }

  /// Answers each question from a file, or from the string of `--text`.
  private func answered(_ file: String?, _ reader: QuestionAnswering) throws -> [Result] {
    let text: String
    do { text = try file.map(TextModelOptions.read) ?? self.text ?? "" } catch {
      return question.map { Result(file: file, question: $0, error: describe(error)) }
    }
    return try question.map { question in
      do {
        let answers = try reader.answers(to: question, in: text, count: top)
        return Result(file: file, question: question, answers: answers)
      } catch let error as ModelError where error.code == .featureType {
        return Result(file: file, question: question, error: describe(error))
      }
    }
  }

  private func show(_ results: [Result]) {
    if results.contains(where: { $0.error == nil }) { Console.print(table(results).text()) }
  }

  private func table(_ results: [Result]) -> TextTable {
    var table = TextTable(
      .init("QUESTION", shrinksTo: 16), .init("ANSWER", shrinksTo: 20), .init("SCORE", .right), .init("PLACE", .right))
    for result in results where result.error == nil {
      let name = result.file.map { files.count > 1 ? "\($0): " : "" } ?? ""
      for (rank, answer) in result.answers.enumerated() {
        table.add(
          rank == 0 ? name + result.question : "", answer.range == nil ? "—" : answer.text,
          HumanReadable.percent(answer.score), answer.range.map { "\($0.lowerBound)…\($0.upperBound)" } ?? "none")
      }
      if result.answers.isEmpty { table.add(name + result.question, "—", "", "") }
    }
    return table
  }
}
