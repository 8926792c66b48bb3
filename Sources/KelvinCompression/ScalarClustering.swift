import Glibc

/// Optimal clusterings of numbers: those with the least weighted sum of squared distances to the means of their
/// clusters (k-means in one dimension, without a start or iterations).
///
/// In one dimension, clusters are ranges of the sorted numbers, and a clustering is a path over their bounds. The least
/// error is convex in the count of clusters, so that a penalty for each cluster gives the clusterings of most counts
/// (Aggarwal, Schieber and Tokuyama, "Finding a minimum-weight k-link path in graphs with Monge property", 1994). A few
/// penalties find the one for a count. A count that no penalty gives is joined from two clusterings of equal cost.
package struct ScalarClustering {
  /// A clustering.
  package struct Clusters {
    /// The position of the first number of each cluster.
    package let starts: [Int]
    /// The mean of each cluster.
    package let means: [Float]
    /// The weighted sum of squared distances to the means.
    package let error: Double
  }

  /// Sums over the numbers before each position.
  private let sums: [Sums]
  /// A number near the middle, subtracted from all, so that sums of squares lose few digits.
  private let center: Double
  private let count: Int

  /// Creates the clusterings of numbers.
  ///
  /// - Parameters:
  ///   - numbers: Finite and distinct, in ascending order; at least one.
  ///   - weights: A weight above 0 for each number.
  package init(_ numbers: [Float], weights: [Double]) {
    precondition(!numbers.isEmpty && numbers.count == weights.count)
    let total = weights.reduce(0, +)
    let center = zip(numbers, weights).reduce(0) { $0 + Double($1.0) * $1.1 } / total
    var (sums, sum) = ([Sums()], Sums())
    sums.reserveCapacity(numbers.count + 1)
    for (number, weight) in zip(numbers, weights) {
      let shifted = Double(number) - center
      sum.weight += weight
      sum.number += weight * shifted
      sum.square += weight * shifted * shifted
      sums.append(sum)
    }
    (self.sums, self.center, count) = (sums, center, numbers.count)
  }

  /// Returns the clustering with the least error.
  ///
  /// - Parameter clusters: The number of clusters, at least 1; fewer are returned if there are fewer numbers.
  package func clusters(_ clusters: Int) -> Clusters {
    precondition(clusters > 0)
    let starts = starts(min(clusters, count))
    var (means, error): ([Float], Double) = ([], 0)
    for (index, start) in starts.enumerated() {
      let (first, last) = (sums[start], sums[index + 1 < starts.count ? starts[index + 1] : count])
      means.append(Float((last.number - first.number) / (last.weight - first.weight) + center))
      error += first.spread(to: last)
    }
    return Clusters(starts: starts, means: means, error: error)
  }

  private func starts(_ clusters: Int) -> [Int] {
    guard clusters > 1 else { return [0] }
    guard clusters < count else { return Array(0..<count) }
    // Clusterings with more and with fewer clusters, and their penalties.
    var more = (starts: Array(0..<count), penalty: 0.0)
    var fewer = (starts: [0], penalty: Double.infinity)
    var pass = PenalizedClustering(sums)
    var penalty = firstPenalty(clusters)
    for step in 0..<Self.stepLimit where penalty > 0 && penalty.isFinite {
      let starts = pass.starts(penalty: penalty)
      if starts.count == clusters { return starts }
      if starts.count > clusters { more = (starts, penalty) } else { fewer = (starts, penalty) }
      guard more.penalty > 0, fewer.penalty.isFinite else {
        // The error falls with the square of the count, and the penalty with its cube. The steps grow, because the
        // numbers may be few or far apart.
        let growth = pow(4, Double(starts.count > clusters ? step : -step))
        penalty *= pow(Double(starts.count) / Double(clusters), 3) * growth
        continue
      }
      guard fewer.penalty > more.penalty * (1 + 1e-14) else { break }
      let range = log(fewer.penalty / more.penalty)
      let (above, below) = (Double(more.starts.count), Double(fewer.starts.count))
      let share = log(above / Double(clusters)) / log(above / below)
      penalty = more.penalty * exp(range * (step % 3 == 2 ? 0.5 : max(0.1, min(0.9, share))))
    }
    return Self.joined(more.starts, fewer.starts, count: clusters)
  }

  private static let stepLimit = 100

  /// Returns a penalty that gives about a count of clusters, by the error of fine quantization (Panter and Dite,
  /// "Quantization distortion in pulse-count modulation", 1951).
  private func firstPenalty(_ clusters: Int) -> Double {
    let parts = min(count, 4 * clusters)
    var root = 0.0
    for part in 0..<parts {
      let (first, last) = (part * count / parts, (part + 1) * count / parts)
      let width = mean(min(last, count - 1)) - mean(first)
      root += cbrt((sums[last].weight - sums[first].weight) * width * width)
    }
    let penalty = pow(root / Double(clusters), 3) / 6
    return penalty > 0 ? penalty : sums[0].spread(to: sums[count]) / pow(Double(clusters), 3)
  }

  /// The number at a position, less the center.
  private func mean(_ place: Int) -> Double {
    (sums[place + 1].number - sums[place].number) / (sums[place + 1].weight - sums[place].weight)
  }

  /// Joins the beginning of a clustering and the end of another. Both are optimal for one penalty, and so is the result:
  /// a cluster of `fewer` holds one of `more`, and exchanging their ends does not raise the sum of their errors.
  ///
  /// - Parameters:
  ///   - more: The starts of more clusters.
  ///   - fewer: The starts of fewer clusters.
  ///   - count: The number of clusters between both.
  private static func joined(_ more: [Int], _ fewer: [Int], count: Int) -> [Int] {
    let shift = count - fewer.count
    let last = (0..<fewer.count - 1).first { fewer[$0 + 1] >= more[$0 + 1 + shift] } ?? fewer.count - 1
    return Array(more[...(last + shift)] + fewer[(last + 1)...])
  }
}

/// Sums over numbers: of weights, of weighted numbers, and of weighted squares.
private struct Sums {
  var weight = 0.0
  var number = 0.0
  var square = 0.0

  /// The weighted sum of squared distances to their mean of the numbers between two positions.
  @inline(__always)
  func spread(to end: Sums) -> Double {
    let sum = end.number - number
    return max(0, end.square - square - sum * sum / (end.weight - weight))
  }
}

/// Clusterings with the least sum of errors and of a penalty for each cluster.
///
/// The least cost of the numbers before an end is the minimum over the last cluster's start. A later start, once better
/// than an earlier one, is better for all later ends (the quadrangle inequality). So a queue holds the starts that
/// become best, each with its first end (Hirschberg and Larmore, "The least weight subsequence problem", 1987).
private struct PenalizedClustering {
  private let sums: [Sums]
  /// By position, the least cost of the numbers before it, and the start of their last cluster.
  private var costs: [Double]
  private var lastStarts: [Int32]
  /// The queue: starts, and the first end for which each is best.
  private var queue: [(start: Int32, end: Int32)]

  init(_ sums: [Sums]) {
    self.sums = sums
    costs = [Double](repeating: 0, count: sums.count)
    lastStarts = [Int32](repeating: 0, count: sums.count)
    queue = [(start: Int32, end: Int32)](repeating: (0, 0), count: sums.count)
  }

  /// Returns the starts of the clusters.
  mutating func starts(penalty: Double) -> [Int] {
    sums.withUnsafeBufferPointer { sums in
      costs.withUnsafeMutableBufferPointer { costs in
        lastStarts.withUnsafeMutableBufferPointer { lastStarts in
          queue.withUnsafeMutableBufferPointer { queue in
            Self.fill(sums, costs, lastStarts, queue, penalty)
          }
        }
      }
    }
    var (found, end): ([Int], Int) = ([], sums.count - 1)
    while end > 0 {
      end = Int(lastStarts[end])
      found.append(end)
    }
    return found.reversed()
  }

  private static func fill(
    _ sums: UnsafeBufferPointer<Sums>, _ costs: UnsafeMutableBufferPointer<Double>,
    _ lastStarts: UnsafeMutableBufferPointer<Int32>, _ queue: UnsafeMutableBufferPointer<(start: Int32, end: Int32)>,
    _ penalty: Double
  ) {
    /// The cost of the numbers before an end whose last cluster has a start.
    @inline(__always)
    func cost(_ start: Int, _ end: Int) -> Double { costs[start] + sums[start].spread(to: sums[end]) }
    let count = sums.count - 1
    var (first, last) = (0, 0)
    queue[0] = (0, 1)
    costs[0] = 0
    for end in 1...count {
      while first < last, queue[first + 1].end <= end { first += 1 }
      let start = Int(queue[first].start)
      costs[end] = cost(start, end) + penalty
      lastStarts[end] = Int32(start)
      guard end < count else { return }
      // The next clusters may start here.
      while true {
        let rival = Int(queue[last].start)
        var low = max(Int(queue[last].end), end + 1)
        if cost(end, low) < cost(rival, low) {
          guard last == first else {
            last -= 1
            continue
          }
          queue[last] = (Int32(end), Int32(low))
          break
        }
        var (step, high) = (1, min(low + 1, count))
        while !(cost(end, high) < cost(rival, high)), high < count {
          (low, step) = (high, 2 * step)
          high = min(low + step, count)
        }
        guard cost(end, high) < cost(rival, high) else { break }
        while high - low > 1 {
          let middle = (low + high) / 2
          if cost(end, middle) < cost(rival, middle) { high = middle } else { low = middle }
        }
        last += 1
        queue[last] = (Int32(end), Int32(high))
        break
      }
    }
  }
}
