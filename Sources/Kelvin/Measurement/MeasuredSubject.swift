#if Measuring
import FoundationEssentials
import KelvinBasics
import KelvinBench
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// A model and the tensors that it is measured with.
struct MeasuredSubject {
  let loaded: LoadedModel
  let options: LoadOptions
  let hasMadeUpInputs: Bool
  private let input: (any FeatureProvider)?
  private let seed: UInt64
  /// Seconds that reading took, from the file to the graph.
  let loadSeconds: Double

  /// - Parameters:
  ///   - input: what is predicted; nil for made-up values of the seed.
  ///   - isSampled: whether graphs whose sizes depend on data are measured at those of a run on the inputs.
  ///   - note: told what the user should know of the model.
  /// - Throws: `ModelError` as `Model.load` does; `featureType` for an input that does not fit.
  init(
    _ url: URL, _ configuration: ModelConfiguration, _ input: (any FeatureProvider)?, seed: UInt64,
    isSampled: Bool = false, note: (String) -> Void
  ) throws(ModelError) {
    var options = try configuration.options()
    try options.takeSample(input, seed: seed, of: ReadModel(contentsOf: url, allowsLinks: configuration.allowsLinks))
    if !isSampled { options.sample = nil }
    let began = ContinuousClock.now
    let settled = options
    // A model that was read before for its inputs' sizes is read anew: reading is part of what is measured.
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

  /// As a benchmark takes it.
  ///
  /// - Parameters:
  ///   - launcher: makes starts in processes of their own; nil to make them within this one.
  ///   - tokens: how the model takes tokens, where it is fed with them.
  /// - Throws: where no temporary folder can be written.
  func benchmarked(
    _ url: URL, _ launcher: (any StartLauncher)?, _ cancellation: Cancellation, _ tokens: BenchmarkedTokens? = nil
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
      })
  }

  /// One tensor for each input of a graph.
  ///
  /// - Parameter graph: nil for the shown one.
  /// - Throws: `ModelError` where a part before it fails.
  func inputs(of graph: LoadedGraph? = nil) throws(ModelError) -> [Tensor] {
    try ModelError.wrapping {
      try input.map { try loaded.tensors(of: $0, for: graph) } ?? loaded.madeUpTensors(for: graph, seed: seed)
    }
  }
}
#endif
