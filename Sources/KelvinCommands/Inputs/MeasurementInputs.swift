import FoundationEssentials
import Kelvin
import KelvinMeasuring
import KelvinVision

/// The inputs of a measurement: values from the command line, or generated from a seed.
struct MeasurementInputs {
  var url: URL
  /// The values; nil for generated inputs.
  var values: DictionaryFeatureProvider?
  /// The frames of a stream; nil to repeat the values.
  var frames: SourceFrames?

  /// Reads the values from the command line.
  ///
  /// - Parameters:
  ///   - source: The source of a stream's frames.
  ///   - normalization: How pixels of frames enter a plain tensor.
  /// - Throws: `ModelError`, `VideoError`, `UsageError` for an input named twice.
  init(
    _ path: String, _ given: [NamedInput], _ imageOptions: ImageOptions, _ options: ModelOptions,
    source: String? = nil, normalization: PixelNormalization? = nil
  ) throws {
    url = URL(filePath: path)
    guard !given.isEmpty || source != nil else { return }
    let file = try ReadModel(contentsOf: url, allowsLinks: options.links.allowLinks)
    let reader = try imageOptions.reader(of: file, functionName: options.function, normalization)
    frames = try source.map { try SourceFrames($0, reader) }
    guard !given.isEmpty else { return }
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
