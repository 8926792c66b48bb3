import KelvinBasics
package import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// A sequence of tokens that a decoder reads, with its KV cache: in the model's states, or in outputs that are inputs
/// of the next step.
///
/// The roles of inputs (tokens, positions, mask, lengths) and of the output with the scores follow from the names that
/// exporters use. `TokenRole` gives them if the names do not. Tokenizing text is outside its scope.
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
/// A KV cache that is passed as outputs and inputs would change its size with every token. Instead, padding rows
/// precede its rows, so that sizes change only a few times between two powers of two. The padding is excluded by the
/// mask, if the model has one, or by a rewritten model that ignores padding. A trial step, computed with and without
/// padding, checks that the padding is ignored.
///
/// A sequence has one owner at a time. Several sequences of one model can run concurrently, each with its own cache.
public final class TokenSequence {
  /// The number of tokens read.
  public private(set) var length = 0
  /// The maximum number of tokens, if the model's input sizes limit it.
  public var capacity: Int? { feeding.capacity }

  private let predictor: Predictor
  private let feeding: TokenFeeding
  /// The model rewritten to ignore padding; nil if that is not possible.
  private lazy var rewritten: Predictor? = feeding.growing.flatMap { predictor.padded($0) }
  private var state: StateMemory
  /// The caches after the latest step, in the caches' order; nil before the first step, and while `padded` has them.
  private var held: [MultiArray]?
  /// The padded cache, reused by later sequences.
  private var padded: PaddedKVCache?
  private var isPadded = false
  /// The remaining kinds of padding that may work for the model, the best first.
  private var paddings: [Padding] = []
  /// Whether a trial step has shown that the model ignores padding of the first kind.
  private var isTried = false
  /// The room at which a prediction failed, for example for lack of position embeddings. From this size on, no padding
  /// is used.
  private var excess = Int.max

  /// The mechanism by which a step ignores padding rows.
  private enum Padding {
    /// The attention mask of the unchanged model.
    case mask
    /// A rewritten model.
    case rewriting
  }

  /// Creates an empty sequence.
  ///
  /// - Parameters:
  ///   - model: a decoder.
  ///   - roles: roles of inputs and outputs whose names do not show them, by name.
  /// - Throws: `ModelError` with code `parameters` for a model without token inputs, or without states or caches. The
  ///   error names what is missing.
  public convenience init(_ model: Model, roles: [String: TokenRole] = [:]) throws(ModelError) {
    try self.init(model.predictor, roles: roles)
  }

  package init(_ predictor: Predictor, roles: [String: TokenRole]) throws(ModelError) {
    self.predictor = predictor
    feeding = try TokenFeeding(predictor.loaded.function, states: predictor.states.keys, roles: roles)
    state = predictor.makeState()
    guard predictor.states.isEmpty else { return }
    if feeding.mayTakePadding { paddings.append(.mask) }
    if feeding.growing != nil { paddings.append(.rewriting) }
  }

  /// Reads tokens that follow the ones already read. Blocks the calling thread.
  ///
  /// - Parameter tokens: at least one token.
  /// - Returns: the scores of all possible next tokens.
  /// - Throws: `ModelError` as `Model.prediction(from:options:)` does; `parameters` for no tokens, or more tokens than
  ///   the model has room for. After any other error the sequence's contents are undefined; call `restart()`.
  @discardableResult
  public func read(_ tokens: [Int]) throws(ModelError) -> [Float] {
    guard !tokens.isEmpty else { throw ModelError(.parameters, "no token to read") }
    if let capacity, length + tokens.count > capacity {
      throw ModelError(
        .parameters, "\(tokens.count) tokens after \(length): the model has room for \(capacity); restart() starts over"
      )
    }
    var rest = tokens[...]
    var scores: [Float] = []
    while !rest.isEmpty {
      let step = Array(rest.prefix(feeding.step(of: rest.count)))
      let isLast = step.count == rest.count
      rest = rest.dropFirst(step.count)
      let answer = try answer(step)
      length += step.count
      if isLast { scores = try last(answer) }
    }
    return scores
  }

  /// Discards all tokens. Memory is kept for the next sequence.
  public func restart() {
    length = 0
    (held, isPadded) = (nil, false)
    do { try state.clear() } catch { state = predictor.makeState() }
  }

  /// Runs one step.
  private func answer(_ tokens: [Int]) throws(ModelError) -> DictionaryFeatureProvider {
    guard tokens.count == 1, length > 0, let padding = paddings.first,
      let padder = padding == .mask ? predictor : rewritten
    else { return try exactAnswer(tokens) }
    // A mask is tried with as many padding rows as tokens, so that a model which does not ignore them shows it.
    let room = PaddedKVCache.room(for: isTried ? length : padding == .mask ? 2 * length : length + 1)
    guard room < excess else { return try exactAnswer(tokens) }
    if !isPadded || padded?.room != room {
      let rows = isPadded ? padded?.rows(length) ?? [] : held ?? []
      let past = try padded?.room == room ? padded : PaddedKVCache(feeding.caches, room: room, reusing: padded)
      past?.hold(rows)
      (padded, isPadded) = (past, true)
      if isTried { held = nil }
    }
    guard let padded else { return try exactAnswer(tokens) }
    var given = padded.features
    if padding == .rewriting { given[Predictor.paddingInput] = FeatureValue(int64: Int64(room - length)) }
    let values = feeding.values(reading: tokens, after: length, behind: room - length, given)
    guard isTried else {
      let guess = try? padder.predict(values, [:], nil)
      isPadded = false
      let exact = try exactAnswer(tokens)
      let isRight = try guess.map { guess throws(ModelError) in isAlike(try last(guess), try last(exact)) } ?? false
      if isRight { isTried = true } else { paddings.removeFirst() }
      return exact
    }
    let answer: DictionaryFeatureProvider
    do { answer = try padder.predict(values, padded.backings, nil) } catch {
      excess = room
      return try exactAnswer(tokens)
    }
    if length < room {
      padded.advance()
    } else {
      held = padded.left
      isPadded = false
    }
    return answer
  }

  /// Runs one step without padding.
  private func exactAnswer(_ tokens: [Int]) throws(ModelError) -> DictionaryFeatureProvider {
    let rows = isPadded ? padded?.rows(length) : held
    isPadded = false
    let given = rows.map { rows in zip(feeding.caches, rows).map { ($0.past, FeatureValue(multiArray: $1)) } }
    let answer = try predict(
      feeding.values(reading: tokens, after: length, given.map { Dictionary($0) { first, _ in first } }))
    held = feeding.caches.compactMap { answer[$0.present]?.multiArrayValue }
    return answer
  }

  /// Whether scores are equal up to the rounding of sums in another order.
  private func isAlike(_ first: [Float], _ second: [Float]) -> Bool {
    guard first.count == second.count, let most = second.max(), let least = second.min() else { return false }
    let tolerance = max(most - least, abs(most)) * Self.tolerance
    return zip(first, second).allSatisfy { abs($0 - $1) <= tolerance }
  }

  private static let tolerance: Float = 1e-4

  private func predict(_ input: DictionaryFeatureProvider) throws(ModelError) -> DictionaryFeatureProvider {
    predictor.states.isEmpty
      ? try predictor.predict(input, [:], nil) : try predictor.predict(input, using: state, [:], nil)
  }

  /// Returns the scores after the last token read.
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
  /// The vocabulary size; nil if neither the function nor its graph gives the scores a known size.
  package var vocabulary: Int? {
    let output = predictor.loaded.function.outputs.first { $0.name == feeding.scores }
    if case .tensor(_, let dimensions)? = output?.type, case .fixed(let count)? = dimensions.last { return count }
    let graph = predictor.loaded.context.graph
    return graph.outputs.first { graph[$0].name == feeding.scores }.flatMap { graph[$0].type.shape.dimensions.last }
  }

  /// A description of the cache: its device, and its bytes per token or in total.
  package var memory: String {
    guard feeding.caches.isEmpty else {
      let isGrowing = feeding.caches.contains { $0.growingAxis != nil }
      let padded = isPadded ? padded : nil
      let bytes = HumanReadable.bytes(feeding.caches.reduce(0) { $0 + $1.type(holding: padded?.room ?? 1).byteCount })
      let arrays = "\(feeding.caches.count) arrays in host memory"
      if let padded { return "\(arrays), with room for \(padded.room) tokens, \(bytes)" }
      return isGrowing ? "\(arrays), which grow by \(bytes) a token" : "\(arrays), \(bytes)"
    }
    let places = Dictionary(grouping: predictor.states.keys.sorted()) { predictor.stateDevices[$0] ?? "?" }
    return places.sorted { $0.key < $1.key }.map { device, names in
      let bytes = names.reduce(0) { $0 + (predictor.states[$1]?.byteCount ?? 0) }
      return "\(names.count) \(names.count == 1 ? "state" : "states") on \(device), \(HumanReadable.bytes(bytes))"
    }.joined(separator: "; ")
  }
}
