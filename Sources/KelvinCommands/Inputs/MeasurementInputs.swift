import FoundationEssentials
import Kelvin
import KelvinMeasuring

/// The inputs of a measurement: values from the command line, or generated from a seed.
struct MeasurementInputs {
  var url: URL
  /// The values; nil for generated inputs.
  var values: DictionaryFeatureProvider?

  /// Reads the values from the command line.
  ///
  /// - Throws: `ModelError`, `UsageError` for an input named twice.
  init(_ path: String, _ given: [NamedInput], _ imageOptions: ImageOptions, _ options: ModelOptions) throws {
    url = URL(filePath: path)
    guard !given.isEmpty else { return }
    let file = try ReadModel(contentsOf: url, allowsLinks: options.links.allowLinks)
    let reader = try imageOptions.reader(of: file, functionName: options.function)
    values = try reader.read(try given.pairs(reader))
  }
}

/// Runs a measurement with notes and progress on stderr. An interrupt ends the measurement, which returns its results
/// so far.
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
