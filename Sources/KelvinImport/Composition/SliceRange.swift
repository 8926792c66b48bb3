import KelvinGraph

/// The elements that a slice takes along one axis.
package struct SliceRange: Hashable {
  package var start: Int
  package var count: Int
  package var step: Int

  package init(start: Int, count: Int, step: Int = 1) {
    self.start = start
    self.count = count
    self.step = step
  }

  /// Creates the range of `start:end:step` by NumPy's rule: negative positions count from the end, positions outside
  /// are clamped.
  ///
  /// - Returns: Nil for a step of 0. An empty range starts at 0.
  package init?(start: Int?, end: Int?, step: Int, size: Int) {
    guard step != 0, step > Int.min else { return nil }
    func clamp(_ position: Int, _ lower: Int, _ upper: Int) -> Int {
      let positive = position < 0 ? max(position, -size - 1) + size : position
      return min(max(positive, lower), upper)
    }
    let first: Int
    let count: Int
    if step > 0 {
      first = start.map { clamp($0, 0, size) } ?? 0
      let last = end.map { clamp($0, 0, size) } ?? size
      count = last > first ? (last - first - 1) / step + 1 : 0
    } else {
      first = start.map { clamp($0, -1, size - 1) } ?? size - 1
      let last = end.map { clamp($0, -1, size - 1) } ?? -1
      count = first > last ? (first - last - 1) / -step + 1 : 0
    }
    self.init(start: count == 0 ? 0 : first, count: count, step: count <= 1 ? 1 : step)
  }
}
