/// A stretch of a list that is the same few elements time and again: `count` times in a row the `period` elements from
/// `start` on. A list for people shows them once.
package struct RepeatedBlock: Sendable, Hashable, Codable {
  package var start: Int
  package var period: Int
  package var count: Int

  package init(start: Int, period: Int, count: Int) {
    self.start = start
    self.period = period
    self.count = count
  }

  /// Of all its elements.
  package var range: Range<Int> { start..<start + period * count }

  /// Of the elements of each time, the first time first.
  package var times: [Range<Int>] {
    (0..<count).map { start + $0 * period..<start + ($0 + 1) * period }
  }

  /// Seconds of the block at each time, added up and at their least and most.
  ///
  /// - Parameter seconds: of an element, by its position in the list.
  package func cost(_ seconds: (Int) -> Double) -> (sum: Double, least: Double, most: Double) {
    let each = times.map { $0.reduce(0) { $0 + seconds($1) } }
    return (each.reduce(0, +), each.min() ?? 0, each.max() ?? 0)
  }
}

extension RepeatedBlock {
  /// A list cut into what stands alone and what repeats.
  package enum Stretch: Sendable, Hashable {
    case plain(Range<Int>)
    case repeated(RepeatedBlock)
  }

  /// The whole of a list of `count` elements in order.
  ///
  /// - Parameter blocks: as `find` gives them, in order and apart from each other; what is not of the list is left out.
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

  /// The blocks with which a list takes the fewest lines, where a block takes one for each element that it shows and one
  /// of its own: dynamic programming from the end, O(elements × `longest`). A block lasts as long as it repeats; of
  /// equally good ones the earliest is taken, and of those the shortest.
  ///
  /// - Parameters:
  ///   - keys: equal where elements look alike; an element that must be seen has a key of its own.
  ///   - fewest: times that a block repeats at least; two are read as quickly as told.
  ///   - longest: elements of a block at most.
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
    // How many elements in a row, from the one looked at, are the same as those a period later.
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
