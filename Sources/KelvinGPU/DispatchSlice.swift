/// A dispatch, or part of its grid.
package struct DispatchSlice: Hashable, Sendable {
  /// Its number in the segment.
  package let dispatch: Int
  /// Where in the dispatch's grid it begins, and how large it is.
  package let origin: [Int]
  package let grid: [Int]
  /// Whether there are others of the same dispatch.
  package let isPart: Bool
  /// Whether the dispatch has ended with it.
  package let isLast: Bool

  init(dispatch: Int, origin: [Int], grid: [Int], isPart: Bool, isLast: Bool) {
    self.dispatch = dispatch
    self.origin = origin
    self.grid = grid
    self.isPart = isPart
    self.isLast = isLast
  }

  /// All of a dispatch.
  package init(whole dispatch: Int, grid: [Int]) {
    self.init(dispatch: dispatch, origin: [0, 0, 0], grid: grid, isPart: false, isLast: true)
  }
}

extension LoweredSegment {
  /// Seconds that one submission is expected to take at most. Systems reset a device that shows nothing for 2 s; an
  /// estimate is often a few times too small.
  package static var submissionLimit: Double { 0.5 }

  /// The dispatches cut into submissions, none of which is expected to hold the device for long. One that takes too long
  /// alone is cut along its grid.
  ///
  /// - Parameters:
  ///   - seconds: by node; nobody knows how the dispatches of a node share them, and each counts as if it took all.
  ///   - group: what the first side of a grid is counted in.
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

  /// - Parameter count: how many are wanted, at least.
  private static func pieces(of dispatch: Int, _ grid: [Int], group: Int, count: Double) -> [DispatchSlice] {
    // Kernels count z in steps of the other sides, so x and y are never cut where z is more than one group.
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
