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
    let clustering = ScalarClustering(numbers, weights: weights, limit: 8)
    for clusters in 1...8 {
      let (starts, means) = clustering.clusters(clusters)
      #expect(starts.first == 0 && starts == starts.sorted() && means.count == starts.count, "seed \(seed)")
      #expect(starts.count == min(clusters, count), "seed \(seed)")
      var error = 0.0
      for (index, start) in starts.enumerated() {
        for place in start..<(index + 1 < starts.count ? starts[index + 1] : count) {
          let difference = Double(numbers[place]) - Double(means[index])
          error += weights[place] * difference * difference
        }
      }
      #expect(abs(error - expected[clusters - 1]) <= 1e-5 * (1 + expected[0]), "seed \(seed), \(clusters) clusters")
      let stated = clustering.errors[min(clusters, clustering.errors.count) - 1]
      #expect(abs(stated - expected[clusters - 1]) <= 1e-9 * (1 + expected[0]), "seed \(seed), \(clusters) clusters")
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
