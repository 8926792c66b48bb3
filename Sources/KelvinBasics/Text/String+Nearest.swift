extension String {
  /// Returns the word most similar to this one, or nil if none is close. At most a third of the longer word's letters
  /// may be inserted, deleted, replaced or swapped with a neighbour. Case is ignored.
  package func nearest(of words: some Sequence<String>) -> String? {
    let own = Array(lowercased())
    var best: (word: String, distance: Int)?
    for word in words {
      let other = Array(word.lowercased())
      let allowed = Swift.max(own.count, other.count) / 3
      guard abs(own.count - other.count) <= allowed else { continue }
      let distance = Self.distance(own, other)
      if distance <= allowed, best.map({ distance < $0.distance }) ?? true { best = (word, distance) }
    }
    return best?.word
  }

  /// Returns the optimal string alignment distance (the Damerau-Levenshtein distance in which no substring is edited
  /// twice).
  private static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var least = Swift.min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = Swift.min(least, before[j - 1] + 1) }
        row.append(least)
      }
      (before, last) = (last, row)
    }
    return last[b.count]
  }
}
