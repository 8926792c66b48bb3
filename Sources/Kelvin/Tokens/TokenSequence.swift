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
/// Keys and values that are handed on as outputs and inputs would have another size for every token. They lie behind room
/// instead that counts for nothing, and sizes change a few times from one power of two to the next: where a mask says which
/// tokens there are, as decoders take padding, and elsewhere in a form of the model that leaves padding out. Whether the
/// model does is tried with one step, which is made both ways.
///
/// One owner at a time; sequences of one model run beside each other, each with a memory of its own.
public final class TokenSequence {
  /// How many tokens were read.
  public private(set) var length = 0
  /// The most tokens that the model has room for, where its sizes tell.
  public var capacity: Int? { feeding.capacity }

  private let predictor: Predictor
  private let feeding: TokenFeeding
  /// What takes padding that no mask tells of; nil where nothing can.
  private lazy var rewritten: Predictor? = feeding.growing.flatMap { predictor.padded($0) }
  private var state: StateMemory
  /// What the latest step left for the next, in the caches' order; nil before the first, and where `padded` has it.
  private var held: [MultiArray]?
  /// Kept from one sequence to the next.
  private var padded: PaddedKVCache?
  private var isPadded = false
  /// How the model may be fed with padding, as far as nothing speaks against it, the best first.
  private var paddings: [Padding] = []
  /// Whether a step has shown that the first of them leaves padding out.
  private var isTried = false
  /// Room that the model did not take, such as more than its tables of places have: what follows is read without padding.
  private var excess = Int.max

  /// What has a step leave out rows in front of those of the tokens.
  private enum Padding {
    /// The mask does, as the model is.
    case mask
    /// The model is rewritten to.
    case rewriting
  }

  /// A sequence without a token.
  ///
  /// - Parameters:
  ///   - model: a decoder.
  ///   - roles: what inputs and outputs are for whose names do not say it, by name.
  /// - Throws: `ModelError` with code `parameters` for a model that takes no tokens, or remembers none, naming what is
  ///   missing.
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
        .parameters, "\(tokens.count) tokens after \(length): the model has room for \(capacity); restart() begins anew"
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

  /// Forgets what was read. Memory is kept for what is read next.
  public func restart() {
    length = 0
    (held, isPadded) = (nil, false)
    do { try state.clear() } catch { state = predictor.makeState() }
  }

  /// One step.
  private func answer(_ tokens: [Int]) throws(ModelError) -> DictionaryFeatureProvider {
    guard tokens.count == 1, length > 0, let padding = paddings.first,
      let padder = padding == .mask ? predictor : rewritten
    else { return try exactAnswer(tokens) }
    // A mask is tried with as much padding as there are tokens, which could not be overlooked.
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

  /// One step on rows of the tokens alone.
  private func exactAnswer(_ tokens: [Int]) throws(ModelError) -> DictionaryFeatureProvider {
    let rows = isPadded ? padded?.rows(length) : held
    isPadded = false
    let given = rows.map { rows in zip(feeding.caches, rows).map { ($0.past, FeatureValue(multiArray: $1)) } }
    let answer = try predict(
      feeding.values(reading: tokens, after: length, given.map { Dictionary($0) { first, _ in first } }))
    held = feeding.caches.compactMap { answer[$0.present]?.multiArrayValue }
    return answer
  }

  /// Whether scores are the same but for the order in which sums were made.
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
