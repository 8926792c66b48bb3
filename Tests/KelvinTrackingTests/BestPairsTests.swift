import KelvinBasics
import KelvinTracking
import Testing

/// The linear assignment, against the best of all assignments.
@Suite struct BestPairsTests {
  /// Returns the largest total gain by trying each column, or none, for each row.
  private static func largestTotal(_ gains: [[Double]], row: Int = 0, taken: Set<Int> = []) -> Double {
    guard row < gains.count else { return 0 }
    var most = largestTotal(gains, row: row + 1, taken: taken)
    for (column, gain) in gains[row].enumerated() where gain > 0 && !taken.contains(column) {
      most = max(most, gain + largestTotal(gains, row: row + 1, taken: taken.union([column])))
    }
    return most
  }

  private static func candidates(_ gains: [[Double]]) -> [CandidatePair] {
    gains.enumerated().flatMap { row, line in
      line.enumerated().compactMap { $1 > 0 ? CandidatePair(row: row, column: $0, gain: $1) : nil }
    }
  }

  @Test func totalIsTheLargestOfAllAssignments() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      let (rows, columns) = (1 + random.index(below: 6), 1 + random.index(below: 6))
      // A few levels, so that many totals are equal; half of the pairs are not allowed.
      let gains = (0..<rows).map { _ in
        (0..<columns).map { _ in Double(max(0, random.index(below: 9) - 4)) / 4 }
      }
      let chosen = BestPairs.columns(for: Self.candidates(gains), rowCount: rows, columnCount: columns)
      let taken = chosen.compactMap { $0 }
      #expect(chosen.count == rows && Set(taken).count == taken.count)
      let pairs = chosen.enumerated().compactMap { row, column in column.map { gains[row][$0] } }
      #expect(pairs.allSatisfy { $0 > 0 })
      #expect(pairs.reduce(0, +) == Self.largestTotal(gains), "\(gains)")
    }
  }

  @Test func largestGainYieldsToALargerTotal() {
    let gains = [[1.0, 0.9], [0.8, 0]]
    #expect(BestPairs.columns(for: Self.candidates(gains), rowCount: 2, columnCount: 2) == [1, 0])
  }

  @Test func noCandidatesLeaveAllRowsAlone() {
    #expect(BestPairs.columns(for: [], rowCount: 3, columnCount: 0) == [nil, nil, nil])
    #expect(BestPairs.columns(for: [], rowCount: 0, columnCount: 2).isEmpty)
  }

  @Test func completeProblemOfManyRowsHasDistinctColumns() {
    var random = SeededGenerator(seed: 8)
    let gains = (0..<150).map { _ in (0..<120).map { _ in 0.01 + random.unit() } }
    let chosen = BestPairs.columns(for: Self.candidates(gains), rowCount: 150, columnCount: 120).compactMap { $0 }
    #expect(Set(chosen).count == 120 && chosen.count == 120)
  }
}
