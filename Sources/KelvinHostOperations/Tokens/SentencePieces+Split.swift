extension SentencePieces {
  /// A part of a normalized text with the number of its piece.
  typealias Part = (number: Int, range: Range<Int>)

  /// Returns the parts of a normalized text.
  func parts(of text: [UInt8]) -> [Part] {
    settings.algorithm == .unigram ? probableParts(of: text) : mergedParts(of: text)
  }

  /// The score of an unknown character: 10 less than the least score of a piece.
  private var unknownScore: Float { (normalScores.min() ?? 0) - 10 }

  private var normalScores: [Float] { settings.pieces.filter { $0.kind == .normal }.map(\.score) }

  /// Returns the parts whose scores have the greatest sum.
  private func probableParts(of text: [UInt8]) -> [Part] {
    var best = [(start: Int, score: Float, number: Int)](repeating: (-1, 0, unknown), count: text.count + 1)
    let (unknownScore, most) = (unknownScore, normalScores.max() ?? 0)
    var start = 0
    while start < text.count {
      let rest = text[start...]
      let before = best[start].score
      let character = min(rest.characterLength, rest.count)
      var isKnown = false
      // Sums are compared before they are rounded, as in SentencePiece, which decides between equal ones.
      func offer(_ length: Int, _ score: Double, _ number: Int) {
        if best[start + length].start < 0 || score > Double(best[start + length].score) {
          best[start + length] = (start, Float(score), number)
        }
      }
      index.forEachPrefix(of: rest) { length, number in
        let piece = settings.pieces[number]
        guard piece.kind != .unused else { return }
        let score = piece.kind == .userDefined ? Double(Float(length) * most) - 0.1 : Double(piece.score)
        offer(length, score + Double(before), number)
        if length == character { isKnown = true }
      }
      if !isKnown { offer(character, Double(unknownScore + before), unknown) }
      start += character
    }
    var parts: [Part] = []
    var end = text.count
    while end > 0 {
      parts.append((best[end].number, best[end].start..<end))
      end = best[end].start
    }
    return parts.reversed()
  }

  /// Returns the characters, merged where neighbours form a piece, the one of the best score first.
  private func mergedParts(of text: [UInt8]) -> [Part] {
    var merging = Merging(characters(of: text))
    for left in merging.symbols.indices.dropLast() { offer(left, &merging, text) }
    while let pair = merging.queue.popBest() {
      guard merging.merge(pair) else { continue }
      if let before = merging.symbols[pair.left].before { offer(before, &merging, text) }
      offer(pair.left, &merging, text)
    }
    return merging.symbols.filter { !$0.range.isEmpty }.flatMap { split($0.range, of: text, by: merging.halves) }
  }

  private func characters(of text: [UInt8]) -> [(range: Range<Int>, isFixed: Bool)] {
    var characters: [(Range<Int>, Bool)] = []
    var start = 0
    while start < text.count {
      var kept = 0
      userDefined.forEachPrefix(of: text[start...]) { length, _ in kept = length }
      let length = kept > 0 ? kept : min(text[start...].characterLength, text.count - start)
      characters.append((start..<start + length, kept > 0))
      start += length
    }
    return characters
  }

  private func offer(_ left: Int, _ merging: inout Merging, _ text: [UInt8]) {
    let symbol = merging.symbols[left]
    guard let right = symbol.behind, !symbol.isFixed, !merging.symbols[right].isFixed else { return }
    let whole = symbol.range.lowerBound..<merging.symbols[right].range.upperBound
    guard let number = index[text[whole]] else { return }
    if settings.pieces[number].kind == .unused { merging.halves[Array(text[whole])] = symbol.range.count }
    merging.queue.push(.init(left: left, right: right, length: whole.count, score: settings.pieces[number].score))
  }

  /// Returns the parts of a merged symbol: a piece that is not used is taken apart again.
  private func split(_ range: Range<Int>, of text: [UInt8], by halves: [[UInt8]: Int]) -> [Part] {
    var pending = [range]
    var parts: [Part] = []
    while let range = pending.popLast() {
      let number = index[text[range]] ?? unknown
      if settings.pieces[number].kind == .unused, let half = halves[Array(text[range])] {
        let middle = range.lowerBound + half
        pending += [middle..<range.upperBound, range.lowerBound..<middle]
      } else {
        parts.append((number, range))
      }
    }
    return parts
  }
}

/// The symbols of a text while neighbours are merged.
private struct Merging {
  struct Symbol {
    var range: Range<Int>
    let isFixed: Bool
    var before: Int?
    var behind: Int?
  }

  var symbols: [Symbol]
  var queue = MergeQueue()
  /// The length of the left half of each merged byte string that is no used piece.
  var halves: [[UInt8]: Int] = [:]

  init(_ characters: [(range: Range<Int>, isFixed: Bool)]) {
    symbols = characters.enumerated().map { place, character in
      Symbol(
        range: character.range, isFixed: character.isFixed, before: place == 0 ? nil : place - 1,
        behind: place == characters.count - 1 ? nil : place + 1)
    }
  }

  /// Merges a pair, unless one of its symbols has changed.
  mutating func merge(_ pair: MergeQueue.Pair) -> Bool {
    let (left, right) = (symbols[pair.left], symbols[pair.right])
    guard !left.range.isEmpty, !right.range.isEmpty, left.range.count + right.range.count == pair.length else {
      return false
    }
    symbols[pair.left].range = left.range.lowerBound..<right.range.upperBound
    symbols[pair.left].behind = right.behind
    if let behind = right.behind { symbols[behind].before = pair.left }
    symbols[pair.right].range = right.range.upperBound..<right.range.upperBound
    return true
  }
}

/// A binary heap of pairs of symbols: the best score first, then the leftmost pair.
private struct MergeQueue {
  struct Pair {
    let left: Int
    let right: Int
    let length: Int
    let score: Float

    func precedes(_ other: Pair) -> Bool { score > other.score || score == other.score && left < other.left }
  }

  private var pairs: [Pair] = []

  mutating func push(_ pair: Pair) {
    pairs.append(pair)
    var child = pairs.count - 1
    while child > 0, pairs[child].precedes(pairs[(child - 1) / 2]) {
      pairs.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func popBest() -> Pair? {
    guard let best = pairs.first, let last = pairs.popLast() else { return nil }
    guard !pairs.isEmpty else { return best }
    pairs[0] = last
    var parent = 0
    while let child = [2 * parent + 1, 2 * parent + 2].filter({ $0 < pairs.count }).min(by: {
      pairs[$0].precedes(pairs[$1])
    }), pairs[child].precedes(pairs[parent]) {
      pairs.swapAt(child, parent)
      parent = child
    }
    return best
  }
}
