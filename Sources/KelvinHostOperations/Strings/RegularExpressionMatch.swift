extension RegularExpressionProgram {
  private typealias Thread = (state: Int, saved: [Int])

  /// Returns the ends of the groups of the first match: of the matches at the first possible position, the one that
  /// the expression prefers (of alternatives the first, of repetitions the longest unless they are lazy). The start of
  /// group n is element 2n and its end element 2n + 1; -1 for a group that took no part.
  ///
  /// - Parameters:
  ///   - start: The position from which matches may begin.
  ///   - isAnchored: Whether matches begin only at `start`.
  ///   - mayBeEmpty: Whether an empty match counts.
  ///   - groupCount: The number of groups, without group 0.
  func firstMatch(
    in text: [UInt32], from start: Int, isAnchored: Bool = false, mayBeEmpty: Bool = true, groupCount: Int
  ) -> [Int]? {
    var seen = [Int](repeating: -1, count: steps.count)
    let none = [Int](repeating: -1, count: 2 * (groupCount + 1))
    var found: [Int]?
    var threads: [Thread] = []
    for place in start...text.count {
      if found == nil, place == start || !isAnchored { add((0, none), to: &threads, in: text, at: place, &seen) }
      var next: [Thread] = []
      for (state, saved) in threads {
        if case .matched = steps[state], mayBeEmpty || place > saved[0] {
          found = saved
          break
        }
        guard place < text.count, case .read(let set) = steps[state], set.contains(text[place]) else { continue }
        add((state + 1, saved), to: &next, in: text, at: place + 1, &seen)
      }
      threads = next
      if threads.isEmpty, found != nil || isAnchored { break }
    }
    return found
  }

  /// Appends the states that read a scalar or have matched and are reachable without reading, in order of preference.
  private func add(
    _ thread: Thread, to threads: inout [Thread], in text: [UInt32], at place: Int, _ seen: inout [Int]
  ) {
    var pending = [thread]
    while let (state, given) = pending.popLast() {
      guard seen[state] != place else { continue }
      seen[state] = place
      var saved = given
      switch steps[state] {
      case .read, .matched: threads.append((state, saved))
      case .check(let position): if position.holds(in: text, at: place) { pending.append((state + 1, saved)) }
      case .save(let index):
        saved[index] = place
        pending.append((state + 1, saved))
      case .jump(let places): pending += places.reversed().map { ($0, saved) }
      }
    }
  }
}

extension RegularExpression {
  /// The part of a string that a group matched; nil for a group that took no part.
  typealias Groups = [Range<Int>?]

  /// Returns the groups of the first match from a position on, with the whole match at index 0.
  func firstGroups(in text: [UInt32], from start: Int, isAnchored: Bool = false, mayBeEmpty: Bool = true) -> Groups? {
    program.firstMatch(
      in: text, from: start, isAnchored: isAnchored, mayBeEmpty: mayBeEmpty, groupCount: groupCount
    ).map { ends in (0...groupCount).map { ends[2 * $0] < 0 ? nil : ends[2 * $0]..<ends[2 * $0 + 1] } }
  }
}
