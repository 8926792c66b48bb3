import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinBench
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// A loaded model and the tensors that it is measured with.
struct MeasuredSubject {
  let loaded: LoadedModel
  let options: LoadOptions
  let hasMadeUpInputs: Bool
  private let input: (any FeatureProvider)?
  private let seed: UInt64
  /// Seconds from opening the file to the finished graph.
  let loadSeconds: Double

  /// - Parameters:
  ///   - input: the input to predict on; nil for values generated from the seed.
  ///   - isSampled: whether graphs with data-dependent sizes are measured at the sizes of a run on the inputs.
  ///   - note: called with messages about the model for the user.
  /// - Throws: `ModelError` as `Model.load` does; `featureType` for an input that does not fit.
  init(
    _ url: URL, _ configuration: ModelConfiguration, _ input: (any FeatureProvider)?, seed: UInt64,
    isSampled: Bool = false, note: (String) -> Void
  ) throws(ModelError) {
    var options = try configuration.options()
    let file = try ReadModel(
      contentsOf: url, allowsLinks: configuration.allowsLinks, isolation: configuration.isolation)
    guard !file.isConfidential else {
      throw ModelError(
        .unsupported,
        "'\(url.relativePath)' is encrypted, and measurements keep results on the disk; measure the original model")
    }
    try options.takeSample(input, seed: seed, of: file)
    if !isSampled { options.sample = nil }
    let began = ContinuousClock.now
    let settled = options
    // A model that was read for its input sizes is read again, because reading is part of the measurement.
    let loaded = try ModelError.wrapping { try LoadedModel(path: url.relativePath, options: settled) }
    loadSeconds = (ContinuousClock.now - began).inSeconds
    let part = isSampled && options.part == nil ? nil : loaded.partRemark
    (loaded.remarks + [part].compactMap { $0 }).forEach(note)
    self.loaded = loaded
    self.options = options
    hasMadeUpInputs = input == nil
    self.input = input
    self.seed = seed
  }

  /// Returns the model in the form that a benchmark takes.
  ///
  /// - Parameters:
  ///   - launcher: launches starts in separate processes; nil to run them within this process.
  ///   - tokens: how the model takes tokens, if the workload feeds tokens.
  ///   - frames: the frames of a stream; nil to repeat the input.
  /// - Throws: if a temporary folder cannot be written.
  func benchmarked(
    _ url: URL, _ launcher: (any StartLauncher)?, _ cancellation: Cancellation, _ tokens: BenchmarkedTokens? = nil,
    _ frames: (any BenchmarkFrames)? = nil
  ) throws -> BenchmarkSubject {
    let (path, options) = (url.relativePath, options)
    let inputs = try inputs()
    let starter = try launcher.map {
      try FreshStarts(path, options, inputs: inputs, launcher: $0, cancellation: cancellation)
    }
    return BenchmarkSubject(
      context: loaded.context, format: loaded.program.source.format.rawValue, inputs: [inputs],
      hasMadeUpInputs: hasMadeUpInputs, classes: loaded.scoresOutput, files: loaded.program.source.files,
      loadSeconds: loadSeconds, reload: starter == nil ? { _ = try LoadedModel(path: path, options: options) } : nil,
      starter: starter,
      tokenReader: tokens.map { [program = loaded.program] tokens in
        { try tokens.reader(program, options, $0, $1, threads: $2) }
      },
      frames: frames.map { [loaded] frames in
        .init(source: frames.name) { try loaded.tensors(of: frames.next(passingOver: $0)) }
      })
  }

  /// Returns one tensor for each input of a graph.
  ///
  /// - Parameter graph: the graph; nil for the graph that the plan shows.
  /// - Throws: `ModelError` if a graph that precedes it fails.
  func inputs(of graph: LoadedGraph? = nil) throws(ModelError) -> [Tensor] {
    try ModelError.wrapping {
      try input.map { try loaded.tensors(of: $0, for: graph) } ?? loaded.syntheticTensors(for: graph, seed: seed)
    }
  }
}
