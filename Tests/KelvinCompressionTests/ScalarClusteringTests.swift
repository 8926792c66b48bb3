import Glibc
import KelvinBasics
import KelvinCompression
import TestSupport
import Testing

/// Optimal palettes of numbers, against all clusterings.
@Suite struct ScalarClusteringTests {
  /// The least error of every count of clusters, by trying every start of the last one.
  private static func errors(_ numbers: [Float], _ weights: [Double], _ limit: Int) -> [Double] {
    func spread(_ start: Int, _ end: Int) -> Double {
      let range = start..<end
      let weight = range.reduce(0) { $0 + weights[$1] }
      let mean = range.reduce(0) { $0 + weights[$1] * Double(numbers[$1]) } / weight
      return range.reduce(0) { $0 + weights[$1] * (Double(numbers[$1]) - mean) * (Double(numbers[$1]) - mean) }
    }
    var before = [0.0] + [Double](repeating: .infinity, count: numbers.count)
    return (0..<limit).map { _ in
      var next = [0.0] + [Double](repeating: .infinity, count: numbers.count)
      for end in 1...numbers.count {
        for start in 0..<end { next[end] = min(next[end], before[start] + spread(start, end)) }
      }
      before = next
      return before[numbers.count]
    }
  }

  @Test(arguments: Tier.seeds(UInt64(40), of: 400))
  func noClusteringHasALesserError(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...30, using: &generator)
    var distinct: Set<Float> = []
    while distinct.count < count { distinct.insert(Float(Int.random(in: -60...60, using: &generator)) / 8) }
    let numbers = distinct.sorted()
    let weights = numbers.map { _ in Double(Int.random(in: 1...9, using: &generator)) }
    let expected = Self.errors(numbers, weights, 8)
    let clustering = ScalarClustering(numbers, weights: weights)
    for clusters in 1...8 {
      let found = clustering.clusters(clusters)
      Self.check(found, numbers, weights, clusters, expected[clusters - 1], "seed \(seed), \(clusters) clusters")
    }
  }

  /// Checks the form of a clustering, and its error against the least one.
  private static func check(
    _ found: ScalarClustering.Clusters, _ numbers: [Float], _ weights: [Double], _ clusters: Int, _ least: Double,
    _ comment: Comment
  ) {
    let (starts, count) = (found.starts, numbers.count)
    #expect(starts.first == 0 && zip(starts, starts.dropFirst()).allSatisfy { $0 < $1 }, comment)
    #expect(starts.count == min(clusters, count) && found.means.count == starts.count, comment)
    var (error, total) = (0.0, 0.0)
    for (index, start) in starts.enumerated() {
      for place in start..<(index + 1 < starts.count ? starts[index + 1] : count) {
        let difference = Double(numbers[place]) - Double(found.means[index])
        error += weights[place] * difference * difference
        total += weights[place] * Double(numbers[place]) * Double(numbers[place])
      }
    }
    #expect(abs(error - least) <= 1e-12 * total + 1e-6 * least, comment)
    #expect(abs(found.error - least) <= 1e-12 * total + 1e-9 * least, comment)
  }

  /// The least error of every count of clusters of many numbers. The best start of the last cluster does not decrease
  /// with the end, so that halving the ends halves the starts to try.
  private static func manyErrors(_ numbers: [Float], _ weights: [Double], _ limit: Int) -> [Double] {
    var sums = [(weight: 0.0, number: 0.0, square: 0.0)]
    for (number, weight) in zip(numbers, weights) {
      let (last, value) = (sums[sums.count - 1], Double(number))
      sums.append((last.weight + weight, last.number + weight * value, last.square + weight * value * value))
    }
    func spread(_ start: Int, _ end: Int) -> Double {
      let sum = sums[end].number - sums[start].number
      return max(0, sums[end].square - sums[start].square - sum * sum / (sums[end].weight - sums[start].weight))
    }
    var before = [0.0] + (1...numbers.count).map { spread(0, $0) }
    var errors = [before[numbers.count]]
    for _ in 1..<limit {
      var next = before
      func fill(_ ends: Range<Int>, _ starts: ClosedRange<Int>) {
        guard !ends.isEmpty else { return }
        let end = (ends.lowerBound + ends.upperBound) / 2
        var best = (error: before[end], start: starts.lowerBound)
        for start in starts where start < end {
          let error = before[start] + spread(start, end)
          if error < best.error { best = (error, start) }
        }
        next[end] = best.error
        fill(ends.lowerBound..<end, starts.lowerBound...best.start)
        fill(end + 1..<ends.upperBound, best.start...starts.upperBound)
      }
      fill(1..<numbers.count + 1, 0...numbers.count - 1)
      before = next
      errors.append(before[numbers.count])
    }
    return errors
  }

  /// Numbers as weights have them: many near zero, few far away; evenly spaced ones, for which no penalty gives most
  /// counts; and numbers in clumps.
  @Test(arguments: ["normal", "heavy", "even", "clumps"]) func manyNumbersHaveTheLeastError(kind: String) {
    var generator = SeededGenerator(seed: 4)
    var counts: [Float: Double] = [:]
    for index in 0..<1500 {
      let unit = Double.random(in: 1e-6..<1, using: &generator)
      let number: Double =
        switch kind {
        case "normal": (-2 * log(unit)).squareRoot() * cos(6.3 * Double.random(in: 0..<1, using: &generator))
        case "heavy": Double.random(in: -1...1, using: &generator) / unit
        case "even": Double(index % 750)
        default: Double(Int(unit * 8)) + Double.random(in: 0..<0.01, using: &generator)
        }
      let weight = kind == "even" ? 1 : Int.random(in: 1...9, using: &generator)
      counts[Float(Float16(number)), default: 0] += Double(weight)
    }
    let numbers = counts.keys.sorted()
    let weights = numbers.map { counts[$0] ?? 1 }
    let clustering = ScalarClustering(numbers, weights: weights)
    let expected = Self.manyErrors(numbers, weights, 260)
    for clusters in [1, 2, 3, 4, 7, 8, 16, 64, 100, 255, 256, 260] {
      let found = clustering.clusters(clusters)
      Self.check(found, numbers, weights, clusters, expected[clusters - 1], "\(kind), \(clusters) clusters")
    }
  }

  @Test(arguments: Tier.seeds(UInt64(40), of: 400))
  func noChoiceWithinTheBudgetCostsLess(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let options = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
      (0..<Int.random(in: 1...4, using: &generator)).map { _ in
        CompressionChoice.Option(
          byteCount: Int.random(in: 0...40, using: &generator), cost: Double(Int.random(in: 0...99, using: &generator)))
      }
    }
    let budget = Int.random(in: 0...120, using: &generator)
    var best: Double?
    func visit(_ index: Int, _ bytes: Int, _ cost: Double) {
      guard index < options.count else {
        if bytes <= budget { best = min(best ?? cost, cost) }
        return
      }
      for option in options[index] { visit(index + 1, bytes + option.byteCount, cost + option.cost) }
    }
    visit(0, 0, 0)
    let chosen = CompressionChoice.choose(from: options, budget: budget)
    let cost = chosen?.enumerated().reduce(0) { $0 + options[$1.offset][$1.element].cost }
    #expect(cost == best, "seed \(seed)")
    let bytes = chosen?.enumerated().reduce(0) { $0 + options[$1.offset][$1.element].byteCount } ?? 0
    #expect(bytes <= budget, "seed \(seed)")
  }
}
