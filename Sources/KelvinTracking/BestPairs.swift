/// A row and a column that may be paired, and what the pair gains.
package struct CandidatePair: Sendable {
  package let row: Int
  package let column: Int
  /// More than 0.
  package let gain: Double

  package init(row: Int, column: Int, gain: Double) {
    self.row = row
    self.column = column
    self.gain = gain
  }
}

/// Pairs of rows and columns with the largest total gain: the linear assignment problem, solved exactly.
///
/// Candidates that share no row and no column, directly or over others, are separate problems. Each is solved by
/// shortest augmenting paths (Jonker and Volgenant, "A shortest augmenting path algorithm for dense and sparse linear
/// assignment problems", Computing 38, 1987), without their initialization. The time is cubic in the size of the
/// largest separate problem.
package enum BestPairs {
  /// Returns the column of each row; nil for a row that stays alone.
  ///
  /// - Parameters:
  ///   - candidates: The allowed pairs, each at most once. Their order decides between equal totals.
  ///   - rowCount: The number of rows.
  ///   - columnCount: The number of columns.
  package static func columns(for candidates: [CandidatePair], rowCount: Int, columnCount: Int) -> [Int?] {
    var groups = DisjointSets(count: rowCount + columnCount)
    for pair in candidates { groups.join(pair.row, rowCount + pair.column) }
    var members: [[CandidatePair]] = []
    var places = [Int](repeating: -1, count: rowCount + columnCount)
    for pair in candidates {
      let root = groups.root(of: pair.row)
      if places[root] < 0 {
        places[root] = members.count
        members.append([])
      }
      members[places[root]].append(pair)
    }
    var chosen = [Int?](repeating: nil, count: rowCount)
    for group in members {
      if group.count == 1 {
        chosen[group[0].row] = group[0].column
      } else {
        for pair in best(of: group) { chosen[pair.row] = pair.column }
      }
    }
    return chosen
  }

  /// Solves one problem as a dense one. A pair that is not a candidate gains 0, so a row that gets such a pair stays
  /// alone.
  private static func best(of group: [CandidatePair]) -> [(row: Int, column: Int)] {
    let rows = Array(Set(group.map(\.row))).sorted()
    let columns = Array(Set(group.map(\.column))).sorted()
    let rowPlaces = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1, $0) })
    let columnPlaces = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
    let isTransposed = rows.count > columns.count
    let width = max(rows.count, columns.count)
    let most = group.reduce(0) { max($0, $1.gain) }
    var costs = [Double](repeating: most, count: rows.count * columns.count)
    for pair in group {
      guard let row = rowPlaces[pair.row], let column = columnPlaces[pair.column] else { continue }
      costs[isTransposed ? column * width + row : row * width + column] = most - pair.gain
    }
    let found = assignment(costs, width: width)
    return found.enumerated().compactMap { line, place in
      guard costs[line * width + place] < most else { return nil }
      return isTransposed ? (rows[place], columns[line]) : (rows[line], columns[place])
    }
  }

  /// Returns the column of each row of a matrix with at most as many rows as columns, so that the sum of the costs is
  /// the smallest. The costs are at least 0.
  private static func assignment(_ costs: [Double], width: Int) -> [Int] {
    let height = costs.count / width
    var rowPrices = [Double](repeating: 0, count: height)
    var columnPrices = [Double](repeating: 0, count: width)
    var rowOfColumn = [Int](repeating: -1, count: width)
    var columnOfRow = [Int](repeating: -1, count: height)
    var distance = [Double](repeating: 0, count: width)
    var previous = [Int](repeating: 0, count: width)
    var open = [Int](repeating: 0, count: width)
    for start in 0..<height {
      for column in 0..<width {
        distance[column] = .infinity
        open[column] = column
      }
      var openCount = width
      var row = start
      var reached = 0.0
      var end = -1
      // Dijkstra's algorithm over reduced costs, until it reaches a free column.
      while end < 0 {
        var nearest = 0
        for place in 0..<openCount {
          let column = open[place]
          let reduced = reached + costs[row * width + column] - rowPrices[row] - columnPrices[column]
          if reduced < distance[column] {
            distance[column] = reduced
            previous[column] = row
          }
          let best = open[nearest]
          if distance[column] < distance[best]
            || distance[column] == distance[best] && rowOfColumn[column] < 0 && rowOfColumn[best] >= 0
          {
            nearest = place
          }
        }
        let column = open[nearest]
        reached = distance[column]
        openCount -= 1
        open.swapAt(nearest, openCount)
        if rowOfColumn[column] < 0 { end = column } else { row = rowOfColumn[column] }
      }
      rowPrices[start] += reached
      for column in open[openCount...] where column != end {
        let slack = reached - distance[column]
        rowPrices[rowOfColumn[column]] += slack
        columnPrices[column] -= slack
      }
      var column = end
      repeat {
        row = previous[column]
        rowOfColumn[column] = row
        swap(&columnOfRow[row], &column)
      } while row != start
    }
    return columnOfRow
  }
}

/// A partition of numbers into sets that are joined step by step.
private struct DisjointSets {
  private var parents: [Int]

  init(count: Int) { parents = Array(0..<count) }

  mutating func root(of number: Int) -> Int {
    var root = number
    while parents[root] != root {
      parents[root] = parents[parents[root]]
      root = parents[root]
    }
    return root
  }

  mutating func join(_ first: Int, _ second: Int) {
    let (low, high) = (root(of: first), root(of: second))
    if low != high { parents[max(low, high)] = min(low, high) }
  }
}
