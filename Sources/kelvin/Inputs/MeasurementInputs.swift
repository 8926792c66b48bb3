import Kelvin
import KelvinBenchmark
import KelvinDevices
import KelvinFormats
import KelvinGraph
import KelvinPlanning
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
    loaded.remarks.forEach(Console.note)
    self.loaded = loaded
    self.options = options
    hasMadeUpInputs = values == nil
    inputs =
      try values.map { try loaded.tensors(of: $0) }
      ?? madeUpInputs(for: loaded.context.graph, features: loaded.function.inputs, seed: seed)
  }
}

extension BenchmarkError {
  /// As the command line reports it: a bad file, or a command line that asks for nothing.
  var asCommandError: any Error {
    switch self {
    case .invalidWorkload: InputError(description)
    case .invalidRequest: UsageError(description)
    }
  }
}

/// Runs a measurement with its progress on a terminal.
///
/// - Throws: what the measurement throws, its own errors as the command line reports them.
func measuring<Result>(_ label: String, _ body: (@escaping BenchmarkObserver) throws -> Result) throws -> Result {
  let progress = Progress(label)
  defer { progress.finish() }
  do {
    return try body { step in
      progress.update(step.fraction, step.detail.isEmpty ? step.phase : "\(step.phase)  \(step.detail)")
    }
  } catch let error as BenchmarkError {
    throw error.asCommandError
  }
}
