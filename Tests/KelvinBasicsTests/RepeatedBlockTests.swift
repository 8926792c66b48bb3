import KelvinBasics
import Testing

@Suite("Repeated blocks")
struct RepeatedBlockTests {
  /// The list again, from its stretches alone: of a block the elements of the first time, as often as it repeats.
  private func expanded(_ stretches: [RepeatedBlock.Stretch], of keys: [Int]) -> [Int] {
    stretches.flatMap { stretch in
      switch stretch {
      case .plain(let range): Array(keys[range])
      case .repeated(let block): Array((0..<block.count).map { _ in keys[block.times[0]] }.joined())
      }
    }
  }

  /// Lines that a list takes: one for each element that is shown, one for each block.
  private func lines(_ blocks: [RepeatedBlock], of count: Int) -> Int {
    count - blocks.reduce(0) { $0 + $1.range.count - $1.period - 1 }
  }

  /// The fewest lines that blocks can save to, by trying every cut with blocks as long as they repeat.
  private func fewest(_ keys: [Int], from start: Int, atLeast least: Int) -> Int {
    guard start < keys.count else { return 0 }
    var best = 1 + fewest(keys, from: start + 1, atLeast: least)
    for period in 1...max(1, keys.count - start) where start + least * period <= keys.count {
      var count = 1
      while start + (count + 1) * period <= keys.count,
        keys[start..<start + period].elementsEqual(
          keys[start + count * period..<start + (count + 1) * period])
      {
        count += 1
      }
      if count >= least {
        best = min(best, period + 1 + fewest(keys, from: start + count * period, atLeast: least))
      }
    }
    return best
  }

  @Test("expanding a folded list gives the list, in the fewest lines", arguments: 0..<200)
  func expansion(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let letters = 1 + Int(random.unit() * 3)
    let keys = (0..<Int(random.unit() * 16)).map { _ in Int(random.unit() * Double(letters)) }
    let least = 2 + Int(random.unit() * 2)
    let blocks = RepeatedBlock.find(in: keys, atLeast: least)
    let stretches = RepeatedBlock.stretches(blocks, of: keys.count)
    #expect(expanded(stretches, of: keys) == keys, "seed \(seed)")
    #expect(blocks.allSatisfy { $0.count >= least }, "seed \(seed)")
    #expect(lines(blocks, of: keys.count) == fewest(keys, from: 0, atLeast: least), "seed \(seed): \(keys)")
  }

  @Test("a planted block is found with its period, wherever it begins", arguments: 0..<50)
  func planted(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (before, period) = (Int(random.unit() * 30), 1 + Int(random.unit() * 60))
    let (count, after) = (3 + Int(random.unit() * 30), Int(random.unit() * 30))
    // All different but for the block.
    let keys =
      (0..<before).map { -1 - $0 } + (0..<count).flatMap { _ in 0..<period } + (0..<after).map { 1000 + $0 }
    let wanted = RepeatedBlock(start: before, period: period, count: count)
    #expect(RepeatedBlock.find(in: keys) == [wanted], "seed \(seed)")
    // One element of the middle that is another leaves two blocks, or fewer times, and itself in neither.
    var broken = keys
    let odd = before + period * (count / 2)
    broken[odd] = .max
    let blocks = RepeatedBlock.find(in: broken)
    #expect(blocks.allSatisfy { !$0.range.contains(odd) }, "seed \(seed): \(blocks)")
    #expect(expanded(RepeatedBlock.stretches(blocks, of: broken.count), of: broken) == broken, "seed \(seed)")
  }

  @Test("two repetitions, too long blocks and empty lists are not folded")
  func limits() {
    #expect(RepeatedBlock.find(in: [1, 2, 1, 2]).isEmpty)
    #expect(RepeatedBlock.find(in: [Int]()).isEmpty)
    #expect(RepeatedBlock.find(in: [1, 2, 3, 1, 2, 3, 1, 2, 3], longest: 2).isEmpty)
    #expect(RepeatedBlock.find(in: Array(repeating: 7, count: 20_000)) == [.init(start: 0, period: 1, count: 20_000)])
  }

  @Test("blocks that reach beyond a shortened list are not folded")
  func shortened() {
    let blocks = [RepeatedBlock(start: 1, period: 2, count: 3), RepeatedBlock(start: 8, period: 1, count: 4)]
    #expect(
      RepeatedBlock.stretches(blocks, of: 10)
        == [.plain(0..<1), .repeated(blocks[0]), .plain(7..<10)])
    #expect(RepeatedBlock.stretches(blocks, of: 0).isEmpty)
  }

  @Test("a block states the sum and the range of its times")
  func cost() {
    let seconds = [9.0, 1, 2, 1, 3, 1, 2.5]
    let cost = RepeatedBlock(start: 1, period: 2, count: 3).cost { seconds[$0] }
    #expect(cost == (10.5, 3, 4))
  }
}
