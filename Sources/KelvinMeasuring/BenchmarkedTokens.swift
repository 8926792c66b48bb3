import Kelvin
import KelvinBasics
import KelvinBench
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// The token inputs of a model in a benchmark: the shapes of a decoding step and the model as a configuration runs it.
struct BenchmarkedTokens {
  private let roles: [String: TokenRole]
  private let seed: UInt64
  /// The input shapes of the first step after the prompt.
  let shapes: [String: [Int]]
  /// The inputs of that step.
  let step: DictionaryFeatureProvider

  /// - Parameters:
  ///   - function: the model's function.
  ///   - prompt: the number of tokens in the prompt.
  ///   - tokens: the number of tokens to generate.
  /// - Throws: `parameters` if the model does not take tokens, or its KV cache is too small for their number.
  init(
    _ function: Function, roles: [String: TokenRole], prompt: Int, tokens: Int, seed: UInt64
  ) throws(ModelError) {
    let states = function.inputs.filter { if case .state = $0.type { true } else { false } }.map(\.name)
    let feeding = try TokenFeeding(function, states: states, roles: roles)
    // The last generated token is not fed back.
    if let capacity = feeding.capacity, prompt + tokens - 1 > capacity {
      throw ModelError(
        .parameters,
        "\(tokens) tokens behind a prompt of \(prompt) are \(prompt + tokens - 1) to read, but the model has room for"
          + " \(capacity); lower --tokens or --prompt", fault: .request)
    }
    self.roles = roles
    self.seed = seed
    shapes = feeding.shapes(reading: 1, after: prompt).mapValues(\.dimensions)
    step = feeding.values(reading: [0], after: prompt, nil)
  }

  /// Loads the model as a configuration runs it.
  ///
  /// - Parameters:
  ///   - program: the parsed model.
  ///   - options: the options that the benchmark's graph was made with.
  ///   - plan: the configuration's plan of that graph.
  /// - Throws: as `Model.load` does.
  func reader(
    _ program: ModelProgram, _ options: LoadOptions, _ configuration: BenchmarkConfiguration, _ plan: Plan, threads: Int
  ) throws -> any TokenReader {
    var options = options
    options.request = configuration.request
    options.request.threads = threads
    let parts = try program.function(options.function).graphParts
    if parts.count == 1, parts[0].valueDependent.isEmpty {
      options.plan = plan
      options.request.pins = [:]
    }
    let loaded = try LoadedModel(program: program, options: options)
    let predictor = try PlannedModel(loaded).predictor(
      specializationLimit: OptimizationHints(reshapeFrequency: .frequent).specializationLimit)
    return MeasuredSequence(predictor, try TokenSequence(predictor, roles: roles), seed: seed)
  }
}

/// A token sequence that a benchmark feeds.
private final class MeasuredSequence: TokenReader {
  private let predictor: Predictor
  private let sequence: TokenSequence
  private let seed: UInt64
  /// The number of tokens in the vocabulary, known once scores were seen.
  private var vocabulary: Int?

  init(_ predictor: Predictor, _ sequence: TokenSequence, seed: UInt64) {
    self.predictor = predictor
    self.sequence = sequence
    self.seed = seed
    vocabulary = sequence.vocabulary
  }

  func prompt(of count: Int) throws -> [Int] {
    try checkWhole()
    if vocabulary == nil {
      vocabulary = try sequence.read([0]).count
      sequence.restart()
    }
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in Int.random(in: 0..<max(vocabulary ?? 1, 1), using: &random) }
  }

  func next(after tokens: [Int]) throws -> Int {
    let scores = try sequence.read(tokens)
    return scores.indices.max { scores[$0] < scores[$1] } ?? 0
  }

  func restart() { sequence.restart() }

  var specializationCounts: SpecializationCounts { predictor.specializationCounts }

  var memory: String { sequence.memory }

  /// Throws if a device failed in an earlier sequence, although predictions continue on other devices.
  private func checkWhole() throws(ModelError) {
    guard let remark = predictor.loaded.fallback.remarks.first else { return }
    throw ModelError(.device, remark)
  }
}
