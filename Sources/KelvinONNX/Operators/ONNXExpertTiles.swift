import KelvinGraph
import KelvinImport

/// The tokens of each expert, in tiles. If tokens are distributed evenly, an expert has two tiles.
struct ExpertTiles {
  /// The tokens of an iteration, and the weights of the expert's results for them.
  struct Tile {
    /// `[rows]`
    let tokens: ValueID
    /// `[rows, 1]`; 0 for tokens that only fill up the tile.
    let shares: ValueID

    /// Returns the sums of all tokens, increased by the results of the tile. A token that is not routed to the expert
    /// adds nothing, even if its result is not finite.
    func adding(_ results: ValueID, to sums: ValueID, _ emitter: Emitter, step: String) throws -> ValueID {
      let none = emitter.constant(0, emitter.scalar(shares), step: "\(step)/none")
      let isOwn = try emitter.add(Compare(.notEqual), shares, none, step: "\(step)/is_own")
      let shared = try emitter.binary(.multiply, results, shares, step: "\(step)/shared")
      let nothing = emitter.constant(0, emitter.scalar(results), step: "\(step)/nothing")
      let parts = try emitter.add(Select(), isOwn, shared, nothing, step: "\(step)/parts")
      let places = try emitter.reshape(tokens, [emitter.shape(tokens).count, 1], step: "\(step)/places")
      return try emitter.add(ScatterND(reduction: .add), sums, places, parts, step: "\(step)/sums")
    }
  }

  private let emitter: Emitter
  /// The number of rows of a tile.
  private let rows: Int
  /// The greatest number of tiles of one expert.
  let most: Int
  /// `[experts · most, rows]`: tokens, beginning with those of the expert, and the expert's weight for each.
  private let (tokens, shares): (ValueID, ValueID)
  /// `[experts]`, int64: the number of tiles with tokens that are routed to the expert.
  private let counts: ValueID

  /// Emits the assignment of tokens to tiles.
  ///
  /// - Parameters:
  ///   - routes: `[tokens, experts]`, 0 where a token is not routed to an expert.
  ///   - chosen: The number of experts that each token is routed to.
  init(_ emitter: Emitter, _ routes: ValueID, tokens count: Int, experts: Int, chosen: Int) throws {
    self.emitter = emitter
    rows = min(max((count * chosen + 2 * experts - 1) / (2 * experts), 1), max(count, 1))
    most = (count + rows - 1) / rows
    let byExpert = try emitter.transpose(routes, [1, 0], step: "routes_by_expert")
    let none = emitter.constant(0, emitter.scalar(routes), step: "no_route")
    let goes = try emitter.cast(
      try emitter.add(Compare(.notEqual), byExpert, none, step: "goes_there"), to: .float32, step: "goes")
    let order = try emitter.addAll(TopK(axis: 1, count: count, takesLargest: true), [goes], step: "own_first")[1]
    let ordered = try emitter.add(GatherElements(axis: 1), byExpert, order, step: "shares_in_order")
    let after = [0, most * rows - count]
    let width: Shape = [experts * most, rows]
    tokens = try emitter.reshape(
      try emitter.pad(
        order, before: [0, 0], after: after, value: Tensor([0] as [Int64], []), step: "tokens_filled_up"),
      width, step: "tokens_by_tile")
    shares = try emitter.reshape(
      try emitter.pad(
        ordered, before: [0, 0], after: after, value: Tensor([0] as [Float], []), step: "shares_filled_up"), width,
      step: "shares_by_tile")
    let own = try emitter.add(Reduce(.sum, axes: [1], keepsDimensions: false), goes, step: "own_tokens")
    let inTiles = try emitter.binary(
      .divide, own, emitter.constant(Double(rows), .float32, step: "tile"), step: "own_in_tiles")
    counts = try emitter.cast(
      try emitter.unary(UnaryFunction(.ceil), inTiles, step: "own_tiles"), to: .int64, step: "trips")
  }

  /// Returns the number of tiles that an expert needs, one int64.
  func count(of expert: Int) throws -> ValueID {
    let own = try emitter.slice(counts, [SliceRange(start: expert, count: 1)], step: "expert_\(expert)/own_trips")
    return try emitter.reshape(own, [], step: "expert_\(expert)/trips")
  }

  /// Returns whether an expert with the given number of tiles needs the tile of an index, one boolean.
  func isNeeded(_ number: ValueID, of count: ValueID, step: String) throws -> ValueID {
    try emitter.add(Compare(.less), number, count, step: step)
  }

  /// Returns the tile of an iteration, in a region of the enclosing graph at a depth.
  func tile(_ trip: ValueID, of expert: Int, depth: Int) throws -> Tile {
    let step = "expert_\(expert)"
    let first = emitter.constant(integers: [expert * most], .int64, shape: [])
    let place = try emitter.binary(.add, trip, first, step: "\(step)/tile")
    let shares = try emitter.add(Gather(axis: 0), emitter.value(shares, of: depth), place, step: "\(step)/tile_shares")
    return Tile(
      tokens: try emitter.add(Gather(axis: 0), emitter.value(tokens, of: depth), place, step: "\(step)/tile_tokens"),
      shares: try emitter.reshape(shares, [rows, 1], step: "\(step)/shares"))
  }
}
