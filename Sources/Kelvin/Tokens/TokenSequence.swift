import KelvinBasics
package import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// Tokens that a decoder reads one after another, and what it remembers of them: in its states, or in outputs that are
/// inputs of the next step.
///
/// Which input takes the tokens, their positions, a mask or lengths, and which output has the scores, follows from names
/// as exporters write them; `TokenRole` says it where they do not. Making tokens of text is not its business.
///
/// ```swift
/// let sequence = try TokenSequence(try await Model.load(contentsOf: url))
/// var scores = try sequence.read(prompt)
/// for _ in 0..<64 {
///   let next = scores.indices.max { scores[$0] < scores[$1] } ?? 0
///   scores = try sequence.read([next])
/// }
/// ```
///
/// One owner at a time; sequences of one model run beside each other, each with a memory of its own.
public final class TokenSequence {
  /// How many tokens were read.
  public private(set) var length = 0
  /// The most tokens that the model has room for, where its sizes tell.
  public var capacity: Int? { feeding.capacity }

  private let predictor: Predictor
  private let feeding: TokenFeeding
  private var state: StateMemory
  /// What the latest step left for the next, by input; nil before the first.
  private var held: [String: FeatureValue]?

  /// A sequence without a token.
  ///
  /// - Parameter roles: what inputs and outputs are for whose names do not say it, by name.
  /// - Throws: `ModelError` with code `parameters` for a model that takes no tokens, or remembers none, naming what is
  ///   missing.
  public convenience init(_ model: Model, roles: [String: TokenRole] = [:]) throws(ModelError) {
    try self.init(model.predictor, roles: roles)
  }

  package init(_ predictor: Predictor, roles: [String: TokenRole]) throws(ModelError) {
    self.predictor = predictor
    feeding = try TokenFeeding(predictor.loaded.function, states: predictor.states.keys, roles: roles)
    state = predictor.makeState()
  }

  /// Reads tokens behind those that were read. Blocks the calling thread.
  ///
  /// - Parameter tokens: at least one.
  /// - Returns: a score for each token that may come next.
  /// - Throws: `ModelError` as `Model.prediction(from:options:)` does; `parameters` for no tokens, and where the model has
  ///   no room for them. After another error nobody knows what was read: `restart()`.
  @discardableResult
  public func read(_ tokens: [Int]) throws(ModelError) -> [Float] {
    guard !tokens.isEmpty else { throw ModelError(.parameters, "no token to read") }
    if let capacity, length + tokens.count > capacity {
      throw ModelError(
        .parameters, "\(tokens.count) tokens after \(length): the model has room for \(capacity); restart() begins anew")
    }
    var rest = tokens[...]
    var scores: [Float] = []
    while !rest.isEmpty {
      let step = Array(rest.prefix(feeding.step(of: rest.count)))
      let isLast = step.count == rest.count
      rest = rest.dropFirst(step.count)
      let answer = try predict(feeding.values(reading: step, after: length, held))
      var left: [String: FeatureValue] = [:]
      for cache in feeding.caches { left[cache.past] = answer[cache.present] }
      held = left
      length += step.count
      if isLast { scores = try last(answer) }
    }
    return scores
  }

  /// Forgets what was read.
  public func restart() {
    length = 0
    held = nil
    state = predictor.makeState()
  }

  private func predict(_ input: DictionaryFeatureProvider) throws(ModelError) -> DictionaryFeatureProvider {
    predictor.states.isEmpty
      ? try predictor.predict(input, [:], nil) : try predictor.predict(input, using: state, [:], nil)
  }

  /// The scores behind the last token that was read.
  private func last(_ answer: DictionaryFeatureProvider) throws(ModelError) -> [Float] {
    guard let array = answer[feeding.scores]?.multiArrayValue, let count = array.shape.last, count > 0 else {
      throw ModelError(.featureType, "output '\(feeding.scores)' has no scores: expected an array […, S, vocabulary]")
    }
    let tensor = array.tensor
    let type = TensorType(tensor.type.scalar, Shape([count]))
    guard let bytes = tensor.bytes.slice(offset: tensor.bytes.count - type.byteCount, count: type.byteCount) else {
      throw ModelError(.featureType, "output '\(feeding.scores)' is empty")
    }
    return Tensor(type, bytes).floats
  }
}

extension TokenSequence {
  /// How many tokens there are to choose from; nil before scores were seen, where sizes do not tell.
  package var vocabulary: Int? {
    let output = predictor.loaded.function.outputs.first { $0.name == feeding.scores }
    if case .tensor(_, let dimensions)? = output?.type, case .fixed(let count)? = dimensions.last { return count }
    let graph = predictor.loaded.context.graph
    return graph.outputs.first { graph[$0].name == feeding.scores }.flatMap { graph[$0].type.shape.dimensions.last }
  }

  /// Where what is remembered lies: by device, what, and how many bytes for each token or in all.
  package var memory: String {
    guard feeding.caches.isEmpty else {
      let isGrowing = feeding.caches.contains { $0.growingAxis != nil }
      let bytes = feeding.caches.reduce(0) { $0 + $1.type(holding: 1).byteCount }
      return "\(feeding.caches.count) arrays in host memory, "
        + (isGrowing ? "which grow by \(HumanReadable.bytes(bytes)) a token" : HumanReadable.bytes(bytes))
    }
    let places = Dictionary(grouping: predictor.states.keys.sorted()) { predictor.stateDevices[$0] ?? "?" }
    return places.sorted { $0.key < $1.key }.map { device, names in
      let bytes = names.reduce(0) { $0 + (predictor.states[$1]?.byteCount ?? 0) }
      return "\(names.count) \(names.count == 1 ? "state" : "states") on \(device), \(HumanReadable.bytes(bytes))"
    }.joined(separator: "; ")
  }
}
