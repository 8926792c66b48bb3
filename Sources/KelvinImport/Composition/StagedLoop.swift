/// The body of a loop, as far as it decides whether the loop is one node of a graph or is walked: its trips made one after
/// another, each with graphs for the sizes that it finds.
package struct StagedLoop {
  /// A value that is carried from trip to trip.
  package struct Carried {
    /// What it begins with, outside.
    package var start: String
    /// Its names at the beginning and at the end of a trip.
    package var given: String
    package var left: String

    package init(start: String, given: String, left: String) {
      self.start = start
      self.given = given
      self.left = left
    }
  }

  package var body: StagedBlock
  /// What every trip is given besides what is carried: its number, its slices.
  package var given: [String]
  package var carried: [Carried]
  /// Whether a trip is followed by another; nil where no trip says.
  package var goesOn: String?
  /// Whether the file shows that no size of something that it carries or accumulates holds for all trips.
  package var grows = false
  /// Whether its trips can be written one after another into a graph, where all that decides how is known: it carries
  /// sequences.
  package var isUnrolled = false

  package init(
    body: StagedBlock, given: [String], carried: [Carried], goesOn: String? = nil, grows: Bool = false,
    isUnrolled: Bool = false
  ) {
    self.body = body
    self.given = given
    self.carried = carried
    self.goesOn = goesOn
    self.grows = grows
    self.isUnrolled = isUnrolled
  }

  /// - Parameter isKnown: whether a value around the loop is computed from constants and shapes alone.
  func isHostExecuted(_ isKnown: (String) -> Bool) -> Bool {
    if grows { return true }
    let captured = body.captured(besides: given + carried.map(\.given))
    let known = body.constants.union(captured.filter(isKnown))
    let computed = captured.subtracting(known).sorted()
    guard isUnrolled else {
      return body.isCut(given: given + carried.map(\.given), computed: computed, known: known)
    }
    // A carried value is known where it begins with one that is and trips leave one that is.
    var changing = Set(carried.filter { !isKnown($0.start) }.map(\.given))
    for _ in 0..<Self.roundLimit {
      var stages = SizeStages(body.operations, changing.sorted() + computed, body.outputs)
      let settled = known.union(given).union(carried.map(\.given).filter { !changing.contains($0) })
      stages.place(settled)
      let changed = carried.filter { !changing.contains($0.given) && !stages.isKnown($0.left) }
      guard !changed.isEmpty else {
        return goesOn.map { !stages.isKnown($0) } ?? false
          || body.isCut(given: changing.sorted(), computed: computed, known: settled)
      }
      changing.formUnion(changed.map(\.given))
    }
    return true
  }

  /// How many carried values may be found to change one after another; where it is more, the loop is walked.
  private static let roundLimit = 4
}
