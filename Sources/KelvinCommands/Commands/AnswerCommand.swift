import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinTables
import KelvinText

struct AnswerCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer",
    abstract: "Answer questions with passages of a text, using a model such as BERT trained on SQuAD.",
    discussion: """
      Example: kelvin answer Squad.onnx --vocabulary vocab.txt --question "Who wrote it?" book.txt

      A text that is longer than the model's input is read in overlapping windows, and the best answers of all \
      windows are compared. The scores of the candidates in a window add up to 1. Positions count Unicode scalars from \
      the start of the text.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Argument(help: ArgumentHelp("Files to search for answers; - for standard input.", valueName: "file"))
  var files: [String] = []

  @Option(help: ArgumentHelp("A text to search for answers, instead of files.", valueName: "text"))
  var text: String?

  @Option(help: ArgumentHelp("A question. Repeatable.", valueName: "text"))
  var question: [String] = []

  @Option(help: ArgumentHelp("The number of answers to show.", valueName: "n"))
  var top = 1

  @Option(help: ArgumentHelp("The output format: table or jsonl.", valueName: "form"))
  var format: TextFormat = .table

  @Option(
    help: ArgumentHelp("The maximum number of tokens in a window. (default: 384, or the model's limit)", valueName: "n")
  )
  var window: Int?

  @Option(
    help: ArgumentHelp("The number of tokens that adjacent windows share. (default: 128)", valueName: "n"))
  var overlap: Int?

  @Option(help: ArgumentHelp("The maximum number of tokens in an answer.", valueName: "n"))
  var longest = 15

  @Flag(help: "Allow the result that the text has no answer.")
  var mayHaveNone = false

  @OptionGroup var page: ReportOption
  @OptionGroup var tokens: TextModelOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !question.isEmpty else { throw ValidationError("give at least one --question") }
    guard files.isEmpty != (text == nil) else {
      throw ValidationError("give files to search for answers, or a --text")
    }
    for (name, value) in [("top", top), ("longest", longest), ("window", window ?? 8)] where value < 1 {
      throw ValidationError("--\(name) must be at least 1, got \(value)")
    }
    if let overlap, overlap < 0 { throw ValidationError("--overlap must be at least 0, got \(overlap)") }
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
    if output.verbose { Console.note("roles of the model's inputs and outputs: \(reader.summary)") }
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
