/// A dispatch, or part of its grid.
package struct DispatchSlice: Hashable, Sendable {
  /// The index of the dispatch in the segment.
  package let dispatch: Int
  /// The start of the slice in the dispatch's grid, and its size.
  package let origin: [Int]
  package let grid: [Int]
  /// Whether the dispatch has other slices.
  package let isPart: Bool
  /// Whether the slice is the last one of its dispatch.
  package let isLast: Bool

  init(dispatch: Int, origin: [Int], grid: [Int], isPart: Bool, isLast: Bool) {
    self.dispatch = dispatch
    self.origin = origin
    self.grid = grid
    self.isPart = isPart
    self.isLast = isLast
  }

  /// Creates a slice that covers a whole dispatch.
  package init(whole dispatch: Int, grid: [Int]) {
    self.init(dispatch: dispatch, origin: [0, 0, 0], grid: grid, isPart: false, isLast: true)
  }
}

extension LoweredSegment {
  /// The longest time, in seconds, that one submission is expected to take. Systems reset a device that makes no
  /// progress for 2 s, and an estimate is often a few times too small.
  package static var submissionLimit: Double { 0.5 }

  /// Cuts the dispatches into submissions that are expected to hold the device for a short time. A dispatch that takes
  /// too long by itself is cut along its grid.
  ///
  /// - Parameters:
  ///   - seconds: estimates by node. The share of each dispatch of a node is not known, so each counts as if it took
  ///     all of the node's time.
  ///   - group: the unit in which the first side of a grid is cut.
  package func submissions(expecting seconds: [String: Double], group: Int = 1) -> [[DispatchSlice]] {
    var submissions: [[DispatchSlice]] = [[]]
    var sum = 0.0
    for (index, dispatch) in dispatches.enumerated() {
      let expected = seconds[nodes[index]] ?? 0
      let grid = dispatch.call.grid
      let pieces = Self.pieces(of: index, grid, group: group, count: expected / Self.submissionLimit)
      for piece in pieces {
        let share = expected / Double(pieces.count)
        if sum > 0, sum + share > Self.submissionLimit {
          submissions.append([])
          sum = 0
        }
        submissions[submissions.count - 1].append(piece)
        sum += share
      }
    }
    return submissions
  }

  /// - Parameter count: the minimum number of slices.
  private static func pieces(of dispatch: Int, _ grid: [Int], group: Int, count: Double) -> [DispatchSlice] {
    // Kernels count z in steps of the other sides, so x and y are not cut when z has more than one group.
    let axis = grid[2] > 1 ? 2 : grid[1] * group > grid[0] ? 1 : 0
    let unit = axis == 0 ? group : 1
    let units = grid[axis] / unit
    let wanted = count.isFinite ? Int(min(max(count, 1).rounded(.up), 4096)) : 1
    let pieces = max(1, min(wanted, units))
    return (0..<pieces).map { piece in
      let (start, end) = (units * piece / pieces * unit, units * (piece + 1) / pieces * unit)
      var (origin, part) = ([0, 0, 0], grid)
      (origin[axis], part[axis]) = (start, end - start)
      return DispatchSlice(
        dispatch: dispatch, origin: origin, grid: part, isPart: pieces > 1, isLast: piece == pieces - 1)
    }
  }
}
