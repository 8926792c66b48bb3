/// Orders nodes so that each follows the producers of its inputs. The order does not affect a plan's cost, but the work
/// of the search, which grows with the number of values live at once.
struct TopologicalOrder {
  let index: ProblemIndex

  init(_ index: ProblemIndex) { self.index = index }

  /// Returns the narrowest of three orders: the declaration order if it is topological, depth first, and greedy by live
  /// values.
  func narrowest() throws(PlanningError) -> [Int] {
    let greedy = try greedyOrder()
    var best = greedy
    var bestScore = score(greedy)
    for order in [Array(0..<index.nodeCount), depthFirst()] where isTopological(order) {
      let candidate = score(order)
      if candidate <= bestScore {
        best = order
        bestScore = candidate
      }
    }
    return best
  }

  private func isTopological(_ order: [Int]) -> Bool {
    var position = Array(repeating: 0, count: order.count)
    for (i, node) in order.enumerated() { position[node] = i }
    for node in 0..<index.nodeCount {
      for value in index.inputs(of: node) where index.producer[value] >= 0 {
        if position[index.producer[value]] >= position[node] { return false }
      }
    }
    return true
  }

  /// Returns the sum over cuts of `4 ^ live values`, capped.
  private func score(_ order: [Int]) -> Double {
    var remaining = (0..<index.valueCount).map { index.readers(of: $0).count }
    var touched = index.producer.map { $0 >= 0 }
    var live = 0
    var sum = 0.0
    for node in order {
      for value in index.inputs(of: node) {
        if !touched[value] {
          touched[value] = true
          live += 1
        }
        remaining[value] -= 1
        if remaining[value] == 0 { live -= 1 }
      }
      for value in index.outputs(of: node) where remaining[value] > 0 { live += 1 }
      sum += live < 200 ? Double(sign: .plus, exponent: 2 * live, significand: 1) : 1e120
    }
    return sum
  }

  /// Returns an order that always takes, among the most recently ready nodes, the one that leaves the fewest values
  /// live.
  private func greedyOrder() throws(PlanningError) -> [Int] {
    let window = 48
    var waiting = Array(repeating: 0, count: index.nodeCount)
    for node in 0..<index.nodeCount {
      waiting[node] = index.inputs(of: node).reduce(0) { $0 + (index.producer[$1] >= 0 ? 1 : 0) }
    }
    var remaining = (0..<index.valueCount).map { index.readers(of: $0).count }
    var ready = (0..<index.nodeCount).reversed().filter { waiting[$0] == 0 }
    var order: [Int] = []
    order.reserveCapacity(index.nodeCount)
    while !ready.isEmpty {
      var chosen = ready.count - 1
      var fewest = Int.max
      for candidate in stride(from: ready.count - 1, through: max(0, ready.count - window), by: -1) {
        var growth = 0
        for value in index.inputs(of: ready[candidate]).prefix(window) where remaining[value] == 1 { growth -= 1 }
        for value in index.outputs(of: ready[candidate]).prefix(window) where remaining[value] > 0 { growth += 1 }
        if growth < fewest {
          fewest = growth
          chosen = candidate
        }
      }
      let node = ready.remove(at: chosen)
      order.append(node)
      for value in index.inputs(of: node) { remaining[value] -= 1 }
      for value in index.outputs(of: node) {
        for consumer in index.readers(of: value).reversed() {
          waiting[consumer] -= 1
          if waiting[consumer] == 0 { ready.append(consumer) }
        }
      }
    }
    if order.count < index.nodeCount { throw cycle(waiting) }
    return order
  }

  private func depthFirst() -> [Int] {
    var order: [Int] = []
    var visited = Array(repeating: false, count: index.nodeCount)
    var stack: [(node: Int, next: Int)] = []
    for root in 0..<index.nodeCount where !visited[root] {
      visited[root] = true
      stack.append((root, index.inputStart[root]))
      while let (node, next) = stack.last {
        if next < index.inputStart[node + 1] {
          stack[stack.count - 1].next += 1
          let producer = index.producer[index.inputs[next]]
          if producer >= 0, !visited[producer] {
            visited[producer] = true
            stack.append((producer, index.inputStart[producer]))
          }
        } else {
          order.append(node)
          stack.removeLast()
        }
      }
    }
    return order
  }

  private func cycle(_ waiting: [Int]) -> PlanningError {
    var node = waiting.firstIndex { $0 > 0 } ?? 0
    var path: [Int] = []
    var place: [Int: Int] = [:]
    while place[node] == nil {
      place[node] = path.count
      path.append(node)
      let blocked = index.inputs(of: node).map { index.producer[$0] }.first { $0 >= 0 && waiting[$0] > 0 }
      node = blocked ?? node
    }
    let circle = path[(place[node] ?? 0)...].reversed().map { index.nodeNames[$0] }
    let shown = circle.prefix(6).joined(separator: " → ") + (circle.count > 6 ? " → …" : "")
    return PlanningError(
      .cycle, "node '\(index.nodeNames[node])'", "depends on itself (\(shown))", node: index.nodeNames[node])
  }
}
