import FoundationEssentials
import KelvinEngine
import KelvinFeatures
import KelvinFormats
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

  /// - Throws: `ModelError` as `Model.load` does; `featureType` for an input that does not fit.
  init(_ url: URL, _ configuration: ModelConfiguration, _ input: (any FeatureProvider)?) throws(ModelError) {
    var options = try configuration.options()
    if let input {
      let function = try ModelError.wrapping { try readModel(at: url.path).function(options.function) }
      options.shapes.merge(try FeatureBinding(function: function).shapes(input)) { said, _ in said }
    }
    let began = ContinuousClock.now
    let settled = options
    let loaded = try ModelError.wrapping { try LoadedModel(path: url.path, options: settled) }
    let elapsed = began.duration(to: .now).components
    loadSeconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
    self.loaded = loaded
    self.options = options
    hasMadeUpInputs = input == nil
    inputs = try ModelError.wrapping {
      try input.map { try loaded.tensors(of: $0) }
        ?? loaded.madeUpTensors(seed: 0)
    }
  }
}
