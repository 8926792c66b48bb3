/// Optimal clusterings of numbers into 1 to `limit` clusters: those with the least weighted sum of squared distances to
/// the means of their clusters (k-means in one dimension, without a start or iterations).
///
/// In one dimension, clusters are ranges of the sorted numbers. The least error of the first `j` numbers in `k`
/// clusters is `min over i of error(i, k - 1) + spread(i, j)`, where `spread` is totally monotone, so that each `k`
/// takes a time proportional to the count of numbers (SMAWK; Aggarwal et al., "Geometric applications of a
/// matrix-searching algorithm", 1987; Wu, "Optimal quantization by matrix searching", 1991).
package struct ScalarClustering {
  /// The sorted distinct numbers.
  private let numbers: [Double]
  /// Sums over the numbers before each position: of weights, of weighted numbers, and of weighted squares.
  private let weights: [Double]
  private let sums: [Double]
  private let squares: [Double]
  /// A number near the middle, subtracted from all, so that sums of squares lose few digits.
  private let center: Double
  /// By count of clusters less 1: the start of the last cluster of the numbers before each position.
  private var starts: [[Int32]] = []
  /// By count of clusters less 1: the least weighted sum of squared distances of all numbers.
  package private(set) var errors: [Double] = []

  /// Creates the clusterings.
  ///
  /// - Parameters:
  ///   - numbers: Finite and distinct, in ascending order; at least one.
  ///   - weights: A weight above 0 for each number.
  ///   - limit: The greatest number of clusters, at least 1.
  package init(_ numbers: [Float], weights given: [Double], limit: Int) {
    precondition(!numbers.isEmpty && numbers.count == given.count && limit > 0)
    let total = given.reduce(0, +)
    center = zip(numbers, given).reduce(0) { $0 + Double($1.0) * $1.1 } / total
    var (weights, sums, squares) = ([0.0], [0.0], [0.0])
    for (number, weight) in zip(numbers, given) {
      let shifted = Double(number) - center
      weights.append(weights[weights.count - 1] + weight)
      sums.append(sums[sums.count - 1] + weight * shifted)
      squares.append(squares[squares.count - 1] + weight * shifted * shifted)
    }
    self.numbers = numbers.map(Double.init)
    (self.weights, self.sums, self.squares) = (weights, sums, squares)
    cluster(limit)
  }

  /// The weighted sum of squared distances to their mean of the numbers from `start` to before `end`.
  private func spread(_ start: Int, _ end: Int) -> Double {
    let weight = weights[end] - weights[start]
    let sum = sums[end] - sums[start]
    return max(0, squares[end] - squares[start] - sum * sum / weight)
  }

  private mutating func cluster(_ limit: Int) {
    let count = numbers.count
    var errors = (0...count).map { $0 == 0 ? 0 : spread(0, $0) }
    starts = [[Int32](repeating: 0, count: count + 1)]
    self.errors = [errors[count]]
    while starts.count < min(limit, count) {
      // As many numbers as clusters have no error, and each is a cluster.
      let clusters = starts.count + 1
      var row = (0...count).map { Int32(max(0, $0 - 1)) }
      var next = errors
      weights.withUnsafeBufferPointer { weights in
        sums.withUnsafeBufferPointer { sums in
          squares.withUnsafeBufferPointer { squares in
            errors.withUnsafeBufferPointer { before in
              row.withUnsafeMutableBufferPointer { row in
                var minima = MonotoneMinima(
                  weights: weights, sums: sums, squares: squares, before: before, least: row)
                minima.find(ends: clusters...count, starts: clusters - 1...count - 1)
                for end in clusters...count { next[end] = minima.entry(end, Int(row[end])) }
              }
            }
          }
        }
      }
      for end in 1..<clusters { next[end] = 0 }
      errors = next
      starts.append(row)
      self.errors.append(errors[count])
    }
  }

  /// Returns the clusters of a clustering: for each, the position of its first number, and its mean.
  ///
  /// - Parameter count: The number of clusters; fewer are returned if there are fewer numbers.
  package func clusters(_ count: Int) -> (starts: [Int], means: [Float]) {
    var (begins, means): ([Int], [Float]) = ([], [])
    var end = numbers.count
    for row in starts.prefix(count).reversed() where end > 0 {
      let start = Int(row[end])
      begins.append(start)
      means.append(Float((sums[end] - sums[start]) / (weights[end] - weights[start]) + center))
      end = start
    }
    return (begins.reversed(), means.reversed())
  }
}

/// The positions of the least entries of the rows of a totally monotone matrix, in a time proportional to its sides. A
/// row is the end of a cluster, a column its start.
private struct MonotoneMinima {
  let weights: UnsafeBufferPointer<Double>
  let sums: UnsafeBufferPointer<Double>
  let squares: UnsafeBufferPointer<Double>
  /// By position, the least error of the numbers before it in one cluster less.
  let before: UnsafeBufferPointer<Double>
  /// By row, the column of its least entry.
  let least: UnsafeMutableBufferPointer<Int32>

  @inline(__always)
  func entry(_ end: Int, _ start: Int) -> Double {
    guard start < end else { return .infinity }
    let weight = weights[end] - weights[start]
    let sum = sums[end] - sums[start]
    return before[start] + max(0, squares[end] - squares[start] - sum * sum / weight)
  }

  /// Sets `least` for a range of rows.
  mutating func find(ends: ClosedRange<Int>, starts: ClosedRange<Int>) {
    // The columns that remain halve with each level.
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: starts.count + 2 * ends.count + 64) { memory in
      for (index, start) in starts.enumerated() { memory[index] = Int32(start) }
      find(
        Rows(first: ends.lowerBound, step: 1, count: ends.count), memory[..<starts.count],
        UnsafeMutableBufferPointer(rebasing: memory[starts.count...]))
    }
  }

  /// Rows at equal distances.
  private struct Rows {
    let first: Int
    let step: Int
    let count: Int
    subscript(index: Int) -> Int { first + index * step }
  }

  /// - Parameter free: Memory for the columns of this level and those below.
  private func find(
    _ rows: Rows, _ columns: Slice<UnsafeMutableBufferPointer<Int32>>, _ free: UnsafeMutableBufferPointer<Int32>
  ) {
    guard rows.count > 0 else { return }
    // Leaves at most as many columns as rows, among them every column with a least entry.
    var kept = 0
    for column in columns {
      while kept > 0, entry(rows[kept - 1], Int(free[kept - 1])) > entry(rows[kept - 1], Int(column)) { kept -= 1 }
      guard kept < rows.count else { continue }
      free[kept] = column
      kept += 1
    }
    // The odd rows first; the least entry of an even row is between those of its neighbours.
    let odd = Rows(first: rows.first + rows.step, step: 2 * rows.step, count: rows.count / 2)
    find(odd, Slice(base: free, bounds: 0..<kept), UnsafeMutableBufferPointer(rebasing: free[kept...]))
    var place = 0
    for index in stride(from: 0, to: rows.count, by: 2) {
      let row = rows[index]
      let end = index + 1 < rows.count ? least[rows[index + 1]] : free[kept - 1]
      var best = free[place]
      var bestEntry = entry(row, Int(best))
      while free[place] != end {
        place += 1
        let other = entry(row, Int(free[place]))
        if other < bestEntry { (best, bestEntry) = (free[place], other) }
      }
      least[row] = best
    }
  }
}
