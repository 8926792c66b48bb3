/// The nodes of a device whose weights are streamed so that all others fit, at the least cost of their copies.
///
/// For each size of a place in the ring, these nodes must spare enough bytes: a knapsack, solved by branch and bound in
/// the order of seconds per byte, with Dantzig's bound ("Discrete-variable extremum problems", 1957).
struct StreamChoice {
  private(set) var nodes: [Int] = []
  private(set) var seconds = 0.0
  /// Whether no other choice costs less; false where the search was cut short.
  private(set) var isLeast = true

  private struct Item: Equatable {
    var bytes: Int
    var seconds: Double
    var node: Int

    func isLike(_ other: Item) -> Bool { bytes == other.bytes && seconds == other.seconds }
  }

  /// The most items that are looked at beyond a first choice for each size, roughly.
  private static let budget = 40_000

  /// - Parameter excess: the bytes by which the device's weights and values exceed its memory.
  /// - Returns: nil if streaming does not spare enough.
  init?(_ index: ProblemIndex, _ placement: [Int], on device: Int, sparing excess: Int) {
    guard excess > 0 else { return }
    let items = placement.indices.compactMap { node -> Item? in
      let seconds = index.streamSeconds[node * index.deviceCount + device]
      let bytes = index.ownBytes(of: node, on: device)
      guard placement[node] == device, seconds.isFinite, bytes > 0 else { return nil }
      return Item(bytes: bytes, seconds: seconds, node: node)
    }.sorted { a, b in
      let (one, two) = (a.seconds * Double(b.bytes), b.seconds * Double(a.bytes))
      return one == two ? (b.bytes, a.node) < (a.bytes, b.node) : one < two
    }
    var best: (seconds: Double, nodes: [Int])?
    var isCut = false
    let sizes = Set(items.map(\.bytes)).sorted()
    for largest in sizes {
      let items = items.filter { $0.bytes <= largest }
      var steps = items.count + Self.budget / (items.count * sizes.count)
      var chosen: [Int] = []
      func least(from first: Int, _ missing: Int) -> Double {
        var (missing, sum) = (missing, 0.0)
        for item in items[first...] {
          if item.bytes >= missing { return sum + item.seconds * Double(missing) / Double(item.bytes) }
          sum += item.seconds
          missing -= item.bytes
        }
        return .infinity
      }
      func choose(from first: Int, _ missing: Int, _ seconds: Double) {
        if missing <= 0 {
          if best.map({ seconds < $0.seconds }) ?? true { best = (seconds, chosen) }
          return
        }
        guard first < items.count else { return }
        let bound = seconds + least(from: first, missing)
        guard bound.isFinite, best.map({ bound < $0.seconds }) ?? true else { return }
        guard steps > 0 else {
          isCut = true
          return
        }
        steps -= 1
        chosen.append(items[first].node)
        choose(from: first + 1, missing - items[first].bytes, seconds + items[first].seconds)
        chosen.removeLast()
        // Without this item, those like it are left out too.
        var next = first + 1
        while next < items.count, items[next].isLike(items[first]) { next += 1 }
        choose(from: next, missing, seconds)
      }
      choose(from: 0, excess + PlanningProblem.ringPlaces * largest, 0)
    }
    guard let best else { return nil }
    (seconds, nodes) = best
    isLeast = !isCut
  }
}
