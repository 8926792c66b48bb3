/// The body of a loop, as far as it decides whether the loop is one node of a graph or is walked: its trips made one after
/// another, each with graphs for the sizes that it finds.
struct StagedLoop {
  /// A value that is carried from trip to trip.
  struct Carried {
    /// What it begins with, outside.
    var start: String
    /// Its names at the beginning and at the end of a trip.
    var given: String
    var left: String
  }

  /// The body's, in an order in which each reads what comes before it.
  var operations: [StagedOperation]
  var constants: Set<String>
  /// What every trip is given besides what is carried: its number.
  var given: [String]
  var carried: [Carried]
  /// Whether a trip is followed by another.
  var goesOn: String
  var outputs: [String]
  /// Whether the file shows that no size of something that it carries or accumulates holds for all trips.
  var grows = false
  /// Whether its trips can be written one after another into a graph, where all that decides how is known: it carries
  /// sequences.
  var isUnrolled = false

  /// - Parameter isKnown: whether a value around the loop is computed from constants and shapes alone.
  func isWalked(_ isKnown: (String) -> Bool) -> Bool {
    if grows { return true }
    let own = Set(given + carried.map(\.given) + operations.flatMap(\.outputs)).union(constants)
    let captured = Set(operations.flatMap(\.uses).map(\.name) + outputs).subtracting(own)
    let known = constants.union(captured.filter(isKnown))
    let computed = captured.filter { !known.contains($0) }.sorted()
    guard isUnrolled else { return needsWalk(given + carried.map(\.given) + computed, known) }
    // A carried value is known where it begins with one that is and trips leave one that is.
    var changing = Set(carried.filter { !isKnown($0.start) }.map(\.given))
    for _ in 0..<Self.roundLimit {
      var body = SizeStages(operations, changing.sorted() + computed, outputs)
      let settled = known.union(given).union(carried.map(\.given).filter { !changing.contains($0) })
      body.place(settled)
      let changed = carried.filter { !changing.contains($0.given) && !body.isKnown($0.left) }
      guard !changed.isEmpty else {
        return !body.isKnown(goesOn) || needsWalk(changing.sorted() + computed, settled)
      }
      changing.formUnion(changed.map(\.given))
    }
    return true
  }

  /// How many carried values may be found to change one after another; where it is more, the loop is walked.
  private static let roundLimit = 4

  /// Whether a size inside depends on what trips compute, or on what they are given.
  private func needsWalk(_ inputs: [String], _ known: Set<String>) -> Bool {
    var body = SizeStages(operations, inputs, outputs)
    body.place(known)
    if body.live.contains(where: { operations[$0].findsItsSize }) { return true }
    let stages = body.parts()
    let own = Set(given + carried.map(\.given))
    return stages.count > 1 || stages.contains { $0.loop != nil || !$0.valued.isDisjoint(with: own) }
  }
}
