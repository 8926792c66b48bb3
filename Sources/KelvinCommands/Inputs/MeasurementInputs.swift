import FoundationEssentials
import Kelvin

/// What a measurement is given to predict: inputs named on the command line, or made-up ones of a seed.
struct MeasurementInputs {
  var url: URL
  /// Nil for made-up ones.
  var values: DictionaryFeatureProvider?

  /// - Throws: `ModelError`, `UsageError` for an input named twice.
  init(_ path: String, _ given: [NamedInput], _ imageOptions: ImageOptions, _ options: ModelOptions) throws {
    url = URL(filePath: path)
    guard !given.isEmpty else { return }
    let file = try ReadModel(contentsOf: url, allowsLinks: options.links.allowLinks)
    values = try imageOptions.reader(of: file, functionName: options.function).read(try given.pairs())
  }
}

/// What a measurement says while it runs: notes, and its progress on stderr, live at a terminal, a line now and then
/// elsewhere. An interrupt ends it with what has been measured.
func measuring<Result: Sendable>(
  _ label: String, _ body: @escaping @Sendable (MeasurementListener) async throws -> Result
) throws -> Result {
  let progress = Progress(label)
  defer { progress.finish() }
  let listener = MeasurementListener(
    note: Console.note,
    step: { progress.update($0.fraction, $0.headline, secondsLeft: $0.secondsLeft, rows: $0.rows) })
  return try Interrupts.cancelling { try await body(listener) }
}
