/// The Pareto front of cost and quality.
public enum ParetoFront {
  /// Returns the points that no other point dominates. A point dominates another if it is at least as good in cost and
  /// quality, and better in one of them.
  ///
  /// - Parameter points: The cost and the quality of each point. Points with NaN are never on the front.
  /// - Returns: The indices of the points on the front, the cheapest first.
  public static func members(of points: [(cost: Double, quality: Double)]) -> [Int] {
    let known = points.indices.filter { !points[$0].cost.isNaN && !points[$0].quality.isNaN }
    let order = known.sorted { a, b in
      (points[a].cost, -points[a].quality, a) < (points[b].cost, -points[b].quality, b)
    }
    var front: [Int] = []
    for index in order {
      guard let last = front.last.map({ points[$0] }) else {
        front.append(index)
        continue
      }
      // Equal points do not dominate each other.
      if points[index].quality > last.quality || points[index] == last { front.append(index) }
    }
    return front
  }
}
