package import KelvinGraph

/// The properties of a loop that determine whether it is a node of a graph or the host executes it. On the host,
/// iterations run one after another, in graphs specialized for the actual sizes.
package struct StagedLoop {
  package var body: StagedBlock
  /// The inputs of an iteration besides the carried values: its index and its slices.
  package var given: [String]
  package var carried: [LoopPart.Carried]
  /// The name of the value that tells whether there is another iteration; nil if the body does not compute it.
  package var goesOn: String?
  /// Whether the file shows that the size of a carried or accumulated value is not the same for all iterations.
  package var grows = false
  /// Whether the iterations can be emitted one after another into a graph if the values that determine them are known.
  /// This is the case if the loop carries sequences.
  package var isUnrolled = false

  package init(
    body: StagedBlock, given: [String], carried: [LoopPart.Carried], goesOn: String? = nil, grows: Bool = false,
    isUnrolled: Bool = false
  ) {
    self.body = body
    self.given = given
    self.carried = carried
    self.goesOn = goesOn
    self.grows = grows
    self.isUnrolled = isUnrolled
  }

  /// Whether the host executes the loop.
  ///
  /// - Parameter isKnown: Whether an outer value is computed from constants and shapes alone.
  func isHostExecuted(_ isKnown: (String) -> Bool) -> Bool {
    if grows { return true }
    let captured = body.captured(besides: given + carried.map(\.given))
    let known = body.constants.union(captured.filter(isKnown))
    let computed = captured.subtracting(known).sorted()
    guard isUnrolled else {
      return body.isCut(given: given + carried.map(\.given), computed: computed, known: known)
    }
    // A carried value is known if its initial value is known and the iterations produce a known one.
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

  /// The greatest number of rounds in which carried values are found to change; if there are more, the host executes
  /// the loop.
  private static let roundLimit = 4
}
