import FoundationEssentials
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// A model and the tensors that it is measured with.
struct MeasuredSubject {
  let loaded: LoadedModel
  let options: LoadOptions
  /// One tensor for each input of the graph.
  let inputs: [Tensor]
  let hasMadeUpInputs: Bool
  /// Seconds that reading took, from the file to the graph.
  let loadSeconds: Double

  /// - Parameters:
  ///   - input: what is predicted; nil for made-up values of the seed.
  ///   - note: told what the user should know of the model.
  /// - Throws: `ModelError` as `Model.load` does; `featureType` for an input that does not fit.
  init(
    _ file: ReadModel, _ configuration: ModelConfiguration, _ input: (any FeatureProvider)?, seed: UInt64,
    note: (String) -> Void
  ) throws(ModelError) {
    var options = try configuration.options()
    if let input {
      let shapes = try file.shapes(of: input, functionName: options.function).mapValues { Shape($0) }
      options.shapes.merge(shapes) { said, _ in said }
    }
    let path = file.url.relativePath
    let began = ContinuousClock.now
    let settled = options
    // Read anew: reading is part of what is measured.
    let loaded = try ModelError.wrapping { try LoadedModel(path: path, options: settled) }
    loadSeconds = (ContinuousClock.now - began).inSeconds
    (loaded.remarks + [loaded.partRemark].compactMap { $0 }).forEach(note)
    self.loaded = loaded
    self.options = options
    hasMadeUpInputs = input == nil
    inputs = try ModelError.wrapping {
      try input.map { try loaded.tensors(of: $0) } ?? loaded.madeUpTensors(seed: seed)
    }
  }
}
