import Kelvin
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinFormats
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinRuntime

/// A model and the tensors that it is measured with.
struct MeasuredModel {
  let loaded: LoadedModel
  let options: LoadOptions
  /// One tensor for each input of the graph.
  let inputs: [Tensor]
  let hasMadeUpInputs: Bool
  /// Seconds that reading took, from the file to the graph.
  let loadSeconds: Double

  /// - Parameters:
  ///   - given: inputs named on the command line; none for made-up ones.
  /// - Throws: what reading the model and the inputs throws.
  init(_ path: String, options: LoadOptions, given: [NamedInput], pictures: PictureOptions, seed: UInt64) throws {
    var options = options
    var values: DictionaryFeatureProvider?
    if !given.isEmpty {
      let function = try readModel(at: path).function(options.function)
      let read = try InputReader(function: function, pictures: pictures).read(given)
      options.shapes.merge(try FeatureBinding(function: function).shapes(read)) { said, _ in said }
      values = read
    }
    let began = ContinuousClock.now
    let loaded = try LoadedModel(path: path, options: options)
    loadSeconds = (ContinuousClock.now - began).inSeconds
    (loaded.remarks + [loaded.partRemark].compactMap { $0 }).forEach(Console.note)
    self.loaded = loaded
    self.options = options
    hasMadeUpInputs = values == nil
    inputs =
      try values.map { try loaded.tensors(of: $0) }
      ?? loaded.madeUpTensors(seed: seed)
  }
}

extension BenchmarkError {
  /// As the command line reports it: a bad file, or a command line that asks for nothing.
  var asCommandError: any Error {
    switch self {
    case .invalidWorkload: InputError(description)
    case .invalidRequest: UsageError(description)
    case .startFailed: self
    }
  }
}

/// Runs a measurement with its progress on stderr: live at a terminal, a line now and then elsewhere.
///
/// - Throws: what the measurement throws, its own errors as the command line reports them.
func measuring<Result>(_ label: String, _ body: (@escaping MeasurementObserver) throws -> Result) throws -> Result {
  let progress = Progress(label, speaksPlainly: true)
  defer { progress.finish() }
  do {
    return try body { step in
      let running = step.rows.first { $0.isRunning }
      progress.update(
        step.fraction, step.headline, rows: step.liveLines,
        plain: running.map { $0.fields.joined(separator: "  ") } ?? "")
    }
  } catch let error as BenchmarkError {
    throw error.asCommandError
  } catch let error as ProfilerError {
    throw UsageError(error.description)
  }
}

extension MeasurementProgress {
  /// `stream, 24 s left`, and whose turn it is where no row says so.
  fileprivate var headline: String {
    var text = phase
    if !detail.isEmpty, !rows.contains(where: { $0.isRunning }) { text += "  \(detail)" }
    if let secondsLeft { text += ", \(HumanReadable.seconds(max(1, secondsLeft.rounded(.up)))) left" }
    return text
  }

  /// A table of the configurations, the running one marked.
  fileprivate var liveLines: [String] {
    let cells = rows.map(\.fields)
    let widths = (cells.first ?? []).indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return zip(rows, cells).map { row, fields in
      let columns = fields.enumerated().map { index, text in
        let padding = String(repeating: " ", count: widths[index] - text.count)
        return index == 0 ? text + padding : padding + text
      }
      return (row.isRunning ? "> " : "  ") + columns.joined(separator: "  ")
    }
  }
}

extension MeasurementProgress.Row {
  fileprivate var fields: [String] {
    func seconds(_ value: Double?) -> String { value.map { HumanReadable.seconds($0) } ?? "—" }
    return [
      label.truncatedInMiddle(to: 24), rate.map { HumanReadable.perSecond($0) } ?? "—", "p50 \(seconds(p50))",
      "p90 \(seconds(p90))", dropped > 0 ? "\(dropped) dropped" : "", state,
    ]
  }
}
