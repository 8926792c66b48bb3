import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinTables
import KelvinText

struct EmbedCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "embed", abstract: "Compute vectors of texts, and the similarity of the texts.",
    discussion: """
      Example: kelvin embed MiniLM.onnx --vocabulary vocab.txt "A cat sleeps." "A kitten naps."

      The vector of a text is the mean of its tokens' vectors, scaled to length 1, unless the model has an output \
      for the whole text. The similarity of two texts is the cosine of the angle between their vectors. With --like, \
      the texts are sorted by their similarity to one text.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Argument(help: "Texts.")
  var texts: [String] = []

  @Option(help: ArgumentHelp("A file with one text per line; - for standard input.", valueName: "file"))
  var lines: String?

  @Option(help: ArgumentHelp("A text to compare the others with.", valueName: "text"))
  var like: String?

  @Option(help: ArgumentHelp("The number of most similar texts to show.", valueName: "n"))
  var top = 10

  @Option(help: ArgumentHelp("The output format: table or jsonl.", valueName: "form"))
  var format: TextFormat = .table

  @Option(help: ArgumentHelp("Write the vectors as an array with one row per text.", valueName: "file.npy"))
  var save: String?

  @Option(
    help: ArgumentHelp("How to combine the vectors of tokens: mean or first.", valueName: "rule"),
    transform: Self.pooling)
  var pooling: SentenceEncoder.Pooling = .mean

  @Flag(help: "Do not scale vectors to length 1.")
  var noNormalization = false

  @Option(
    help: ArgumentHelp(
      "The maximum number of tokens read from a text. (default: 512, or the model's limit)", valueName: "n"))
  var maxTokens: Int?

  @Option(help: ArgumentHelp("The output to use, if the model has several.", valueName: "name"))
  var modelOutput: String?

  @OptionGroup var page: ReportOption
  @OptionGroup var tokens: TextModelOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !texts.isEmpty || lines != nil else { throw ValidationError("give texts, or a file of --lines") }
    if let maxTokens, maxTokens < 3 { throw ValidationError("--max-tokens must be at least 3, got \(maxTokens)") }
    guard top > 0 else { throw ValidationError("--top must be at least 1, got \(top)") }
    try output.validate(beside: format)
  }

  func run() throws {
    let given = texts + (try lines.map { try LabelFile.labels(in: TextModelOptions.read($0)) } ?? [])
    guard !given.isEmpty else { throw InputError("'\(lines ?? "")' has no lines; expected one text per line") }
    let tokenizer = try tokens.tokenizer()
    let loaded = try tokens.model(model, try options.configuration(units: units.units))
    var encoder = try SentenceEncoder(loaded, tokenizer, inputs: tokens.inputs, output: modelOutput)
    if output.verbose { Console.note("roles of the model's inputs and outputs: \(encoder.summary)") }
    encoder.pooling = pooling
    encoder.normalizes = !noNormalization
    encoder.tokenLimit = maxTokens ?? encoder.tokenLimit
    let vectors = try encoded(given, encoder)
    let query = try like.map { try encoder.embedding(of: $0) }
    loaded.remarks.forEach(Console.note)
    if let save {
      let shape = [vectors.count, vectors.first?.count ?? 0]
      try LocalFile.write(try MultiArray(vectors.flatMap { $0 }, shape: shape), to: save)
    }
    let printer = EmbeddingPrinter(texts: given, vectors: vectors, query: query, count: top)
    if output.json {
      try printJSON(printer.documents)
    } else if format == .jsonl {
      for document in printer.documents { try printJSONLine(document) }
    } else {
      Console.print(printer.table.text())
    }
    try page.write(
      ResultPage(
        title: like ?? "Similarity of texts", summary: "among \(counted(given.count, "text"))",
        tables: [.init(printer.table)]))
  }

  /// Encodes the strings in batches, so that progress is visible.
  private func encoded(_ texts: [String], _ encoder: SentenceEncoder) throws -> [[Float]] {
    let progress = Progress("encoding")
    defer { progress.finish() }
    var vectors: [[Float]] = []
    let step = 64
    for start in stride(from: 0, to: texts.count, by: step) {
      vectors += try encoder.embeddings(of: Array(texts[start..<min(start + step, texts.count)]))
      progress.update(Double(vectors.count) / Double(texts.count), "\(vectors.count) of \(texts.count) texts")
    }
    return vectors
  }

  private static func pooling(_ text: String) throws -> SentenceEncoder.Pooling {
    guard let pooling = SentenceEncoder.Pooling(rawValue: text) else {
      throw ValidationError("'\(text)' is not a pooling; use mean or first")
    }
    return pooling
  }
}
