/// What nothing else beats at both its cost and its quality.
public enum ParetoFront {
  /// Those of which no other costs as little or less and is as good or better, one of the two more so.
  ///
  /// - Parameter points: what each costs and how good it is; one with a number that is none is never on the front.
  /// - Returns: their places, the cheapest first.
  public static func members(of points: [(cost: Double, quality: Double)]) -> [Int] {
    let known = points.indices.filter { !points[$0].cost.isNaN && !points[$0].quality.isNaN }
    let order = known.sorted { a, b in
      (points[a].cost, -points[a].quality, a) < (points[b].cost, -points[b].quality, b)
    }
    var front: [Int] = []
    for place in order {
      guard let last = front.last.map({ points[$0] }) else {
        front.append(place)
        continue
      }
      // Equals do not beat one another.
      if points[place].quality > last.quality || points[place] == last { front.append(place) }
    }
    return front
  }
}
