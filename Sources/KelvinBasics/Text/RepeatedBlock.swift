/// A part of a list that repeats: the `period` elements from `start` on occur `count` times in a row. Lists for users
/// show them once.
package struct RepeatedBlock: Sendable, Hashable, Codable {
  package var start: Int
  package var period: Int
  package var count: Int

  package init(start: Int, period: Int, count: Int) {
    self.start = start
    self.period = period
    self.count = count
  }

  /// The range of all elements of the block.
  package var range: Range<Int> { start..<start + period * count }

  /// The ranges of the repetitions, in order.
  package var times: [Range<Int>] {
    (0..<count).map { start + $0 * period..<start + ($0 + 1) * period }
  }

  /// Returns the seconds of the repetitions: their sum, minimum and maximum.
  ///
  /// - Parameter seconds: returns the seconds of an element, by its index in the list.
  package func cost(_ seconds: (Int) -> Double) -> (sum: Double, least: Double, most: Double) {
    let each = times.map { $0.reduce(0) { $0 + seconds($1) } }
    return (each.reduce(0, +), each.min() ?? 0, each.max() ?? 0)
  }
}

extension RepeatedBlock {
  /// A part of a list that is either plain or repeated.
  package enum Stretch: Sendable, Hashable {
    case plain(Range<Int>)
    case repeated(RepeatedBlock)
  }

  /// Returns the parts of a list of `count` elements, in order.
  ///
  /// - Parameter blocks: the result of `find`: ordered and disjoint. Blocks outside of the list are ignored.
  package static func stretches(_ blocks: [RepeatedBlock], of count: Int) -> [Stretch] {
    var stretches: [Stretch] = []
    var next = 0
    for block in blocks where block.start >= next && block.range.upperBound <= count {
      if block.start > next { stretches.append(.plain(next..<block.start)) }
      stretches.append(.repeated(block))
      next = block.range.upperBound
    }
    return next < count ? stretches + [.plain(next..<count)] : stretches
  }

  /// Returns the blocks that shorten a list to the fewest lines. A block takes one line for each element that it
  /// shows, and one for itself. The algorithm is dynamic programming from the end, O(elements × `longest`). A block
  /// extends over all its repetitions; among equally good blocks the earliest is chosen, and among those the
  /// shortest.
  ///
  /// - Parameters:
  ///   - keys: equal for elements that look alike; an element that must be shown needs a key of its own.
  ///   - fewest: the minimum number of repetitions.
  ///   - longest: the maximum number of elements of a block.
  package static func find(
    in keys: [some Hashable], atLeast fewest: Int = 3, longest: Int = 256
  ) -> [RepeatedBlock] {
    var numbers: [AnyHashable: Int] = [:]
    let keys = keys.map { key in
      let number = numbers[key] ?? numbers.count
      numbers[key] = number
      return number
    }
    let longest = min(longest, keys.count / max(fewest, 2))
    guard longest > 0 else { return [] }
    var lines = [Int](repeating: 0, count: keys.count + 1)
    var taken = [RepeatedBlock?](repeating: nil, count: keys.count)
    // The number of consecutive elements, from the current one on, that equal the elements a period later.
    var alike = [Int](repeating: 0, count: longest + 1)
    for start in keys.indices.reversed() {
      lines[start] = lines[start + 1] + 1
      for period in 1...longest {
        alike[period] = start + period < keys.count && keys[start] == keys[start + period] ? alike[period] + 1 : 0
        let count = alike[period] / period + 1
        guard count >= max(fewest, 2) else { continue }
        let total = period + 1 + lines[start + period * count]
        let isFirst = taken[start] == nil
        if total < lines[start] || isFirst && total == lines[start] {
          lines[start] = total
          taken[start] = RepeatedBlock(start: start, period: period, count: count)
        }
      }
    }
    var blocks: [RepeatedBlock] = []
    var next = 0
    while next < keys.count {
      if let block = taken[next] { blocks.append(block) }
      next = taken[next]?.range.upperBound ?? next + 1
    }
    return blocks
  }
}
