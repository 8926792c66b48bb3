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
/// If other devices than the host run the model, such a cache stays on them between steps. If one of them fails, the
/// sequence reads its tokens again on the devices that are left.
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
  /// The tokens read, from which the caches can be computed again; empty unless the caches stay on devices.
  private var readTokens: [Int] = []
  /// The caches after the latest step, in the caches' order; nil before the first step, and while `padded` or `carried`
  /// has them.
  private var held: [MultiArray]?
  /// The padded cache, reused by later sequences.
  private var padded: PaddedKVCache?
  private var isPadded = false
  /// The cache on the devices, reused by later sequences.
  private var carried: CarriedKVCache?
  private var isCarried = false
  /// Whether caches that are inputs and outputs of the model may stay on its devices instead.
  private var carries: Bool
  /// The model with the caches in states, by the padding that it ignores; nil for none.
  private var carriers: [Padding?: Predictor] = [:]
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
    carries = predictor.usesOtherDevices && !feeding.caches.isEmpty
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
      var answer = try carriedAnswer(step)
      if answer == nil { answer = try self.answer(step) }
      length += step.count
      if carries { readTokens += step }
      if isLast, let answer { scores = try last(answer) }
    }
    return scores
  }

  /// Discards all tokens. Memory is kept for the next sequence.
  public func restart() {
    length = 0
    (held, isPadded, isCarried, readTokens) = (nil, false, false, [])
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
      let rows = try rows() ?? []
      let past = try padded?.room == room ? padded : PaddedKVCache(feeding.caches, room: room, reusing: padded)
      past?.hold(rows)
      (padded, isPadded, isCarried) = (past, true, false)
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
    let rows = try rows()
    (isPadded, isCarried) = (false, false)
    let given = rows.map { rows in zip(feeding.caches, rows).map { ($0.past, FeatureValue(multiArray: $1)) } }
    let answer = try predict(
      feeding.values(reading: tokens, after: length, given.map { Dictionary($0) { first, _ in first } }))
    held = feeding.caches.compactMap { answer[$0.present]?.multiArrayValue }
    return answer
  }

  /// The rows of all tokens read, in the caches' order; nil for none.
  private func rows() throws(ModelError) -> [MultiArray]? {
    if isCarried { return try carried?.rows(length) }
    return isPadded ? padded?.rows(length) : held
  }

  /// Runs one step with the caches in states; nil if the caches must be inputs and outputs.
  ///
  /// A growing cache is padded, and only for steps of one token, once a trial has shown that the model ignores the
  /// padding. A failed step leaves the states undefined; the tokens are then read again without states.
  private func carriedAnswer(_ tokens: [Int]) throws(ModelError) -> DictionaryFeatureProvider? {
    guard carries else { return nil }
    let isFixed = feeding.caches.allSatisfy { $0.growingAxis == nil }
    guard isFixed || feeding.growing != nil && tokens.count == 1 && length > 0 && isTried else { return nil }
    let padding = isFixed ? nil : paddings.first
    // After the step there is a row for each token.
    let room = isFixed ? nil : PaddedKVCache.room(for: length + 1)
    guard room ?? 0 < excess, let carrier = carrier(padding) else { return nil }
    do {
      if !isCarried || carried?.room != room {
        let rows = length > 0 ? try rows() : nil
        let cache =
          carried.flatMap { $0.room == room ? $0 : nil }
          ?? CarriedKVCache(feeding.caches, room: room, of: carrier)
        if let rows { try cache.hold(rows) } else { try ModelError.wrapping { try cache.state.clear() } }
        (carried, isCarried, padded, isPadded, held) = (cache, true, nil, false, nil)
      }
      guard let carried else { return nil }
      let rows = (room ?? length) - length
      let given = padding == .rewriting ? [Predictor.paddingInput: FeatureValue(int64: Int64(rows))] : [:]
      let values = feeding.values(reading: tokens, after: length, behind: rows, given, passesCaches: false)
      return try carrier.predict(values, using: carried.state, [:], nil)
    } catch {
      guard error.code != .predictionCancelled else { throw error }
      let before = readTokens
      (carries, carried, isCarried, isPadded, held, readTokens, length) = (false, nil, false, false, nil, [], 0)
      var rest = before[...]
      while !rest.isEmpty {
        let step = Array(rest.prefix(feeding.step(of: rest.count)))
        rest = rest.dropFirst(step.count)
        _ = try exactAnswer(step)
        length += step.count
      }
      return nil
    }
  }

  /// Returns the model with the caches in states; nil if there is none, which ends the attempts.
  private func carrier(_ padding: Padding?) -> Predictor? {
    if let known = carriers[padding] { return known }
    let caches = feeding.caches.map { CarriedCache(past: $0.past, present: $0.present, axis: $0.growingAxis) }
    let made = (padding == .rewriting ? rewritten : predictor)?.carrying(caches)
    carriers[padding] = made
    carries = made != nil
    return made
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
      let places = isCarried ? carried?.state.holders.sorted() ?? [] : []
      let arrays = "\(feeding.caches.count) arrays \(places.isEmpty ? "in host memory" : "on \(places.inWords)")"
      if isCarried, let room = carried?.room {
        let bytes = HumanReadable.bytes(feeding.caches.reduce(0) { $0 + $1.type(holding: room).byteCount })
        return "\(arrays), with room for \(room) tokens, \(bytes)"
      }
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
