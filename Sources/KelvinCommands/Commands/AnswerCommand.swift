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

  private struct Document: Encodable {
    struct Answer: Encodable {
      var text: String
      var score: Double
      var start: Int?
      var end: Int?
    }

    var file: String?
    var question: String
    var answers: [Answer]
    var error: String?
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
    var documents: [Document] = []
    let progress = Progress("reading")
    let sources: [String?] = text == nil ? files : [nil]
    for (index, file) in sources.enumerated() {
      progress.update(Double(index) / Double(sources.count), file ?? "")
      for document in try documentsOf(file, reader) {
        if let error = document.error { Console.error(error) }
        documents.append(document)
        if format == .jsonl {
          Progress.makeWay()
          try printJSONLine(document)
        }
      }
    }
    progress.finish()
    loaded.remarks.forEach(Console.note)
    if output.json { try printJSON(documents) } else if format == .table { show(documents) }
    try page.write(
      ResultPage(
        title: "Answers", summary: files.isEmpty ? "from a text" : "from \(counted(files.count, "file"))",
        tables: [.init(table(documents))]))
    if documents.contains(where: { $0.error != nil }) { throw ReportedFailure(status: .badData) }
  }

  /// Answers each question from a file, or from the string of `--text`.
  private func documentsOf(_ file: String?, _ reader: QuestionAnswering) throws -> [Document] {
    let text: String
    do { text = try file.map(TextModelOptions.read) ?? self.text ?? "" } catch {
      return question.map { Document(file: file, question: $0, answers: [], error: describe(error)) }
    }
    return try question.map { question in
      do {
        let answers = try reader.answers(to: question, in: text, count: top)
        return Document(
          file: file, question: question,
          answers: answers.map {
            .init(text: $0.text, score: $0.score, start: $0.range?.lowerBound, end: $0.range?.upperBound)
          })
      } catch let error as ModelError where error.code == .featureType {
        return Document(file: file, question: question, answers: [], error: describe(error))
      }
    }
  }

  private func show(_ documents: [Document]) {
    if documents.contains(where: { $0.error == nil }) { Console.print(table(documents).text()) }
  }

  private func table(_ documents: [Document]) -> TextTable {
    var table = TextTable(
      .init("QUESTION", shrinksTo: 16), .init("ANSWER", shrinksTo: 20), .init("SCORE", .right), .init("PLACE", .right))
    for document in documents where document.error == nil {
      let name = document.file.map { files.count > 1 ? "\($0): " : "" } ?? ""
      for (rank, answer) in document.answers.enumerated() {
        table.add(
          rank == 0 ? name + document.question : "", answer.start == nil ? "—" : answer.text,
          HumanReadable.percent(answer.score), answer.start.map { "\($0)…\(answer.end ?? $0)" } ?? "none")
      }
      if document.answers.isEmpty { table.add(name + document.question, "—", "", "") }
    }
    return table
  }
}
