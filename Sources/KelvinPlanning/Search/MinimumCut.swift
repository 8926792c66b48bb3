/// A minimum cut between a source and a sink. Two search trees, one from each terminal, grow until they touch, and are
/// repaired rather than rebuilt after each augmentation.
///
/// Boykov and Kolmogorov, "An experimental comparison of min-cut/max-flow algorithms for energy minimization in
/// vision", PAMI 26(9), 2004. Capacities are integers, so the flow is exact. The order of the calls decides all ties in
/// the search. The resulting cut does not depend on it: it is the cut with the fewest vertices on the sink's side.
struct MinimumCut {
  private enum Tree: UInt8 { case none, source, sink }
  private enum Link {
    static let none = -1
    static let terminal = -2
    static let orphan = -3
  }

  /// Arcs in pairs: `arc ^ 1` is the reverse arc.
  private var head: [Int32] = []
  private var residual: [Int] = []
  private var next: [Int32] = []
  private var first: [Int32]
  /// The residual capacity of the arc from the source if positive, of the arc to the sink if negative.
  private var terminal: [Int]
  private var tree: [Tree]
  /// The arc to the parent in the vertex's tree, or a `Link`.
  private var parent: [Int]
  private var stamp: [Int32]
  private var distance: [Int32]
  private var time: Int32 = 0
  private var active: [Int32] = []
  private var isActive: [Bool]
  private var orphans: [Int32] = []
  /// For the last search from one vertex, the arc by which each vertex was reached.
  private var trail: [Int] = []
  private var seen: [Int32] = []
  private var round: Int32 = 0
  private(set) var flow = 0
  /// The number of arcs examined, a measure of the search that does not depend on time.
  private(set) var work = 0

  init(vertices: Int) {
    first = Array(repeating: -1, count: vertices)
    terminal = Array(repeating: 0, count: vertices)
    tree = Array(repeating: .none, count: vertices)
    parent = Array(repeating: Link.none, count: vertices)
    stamp = Array(repeating: 0, count: vertices)
    distance = Array(repeating: 0, count: vertices)
    isActive = Array(repeating: false, count: vertices)
  }

  mutating func reserve(arcs: Int) {
    head.reserveCapacity(2 * arcs)
    residual.reserveCapacity(2 * arcs)
    next.reserveCapacity(2 * arcs)
  }

  mutating func add(_ from: Int, _ to: Int, _ capacity: Int, back: Int = 0) {
    for (tail, tip, capacity) in [(from, to, capacity), (to, from, back)] {
      next.append(first[tail])
      first[tail] = Int32(head.count)
      head.append(Int32(tip))
      residual.append(capacity)
    }
  }

  /// Sets the capacity from the source if positive, of the arc to the sink if negative.
  mutating func tie(_ vertex: Int, _ capacity: Int) { terminal[vertex] = capacity }

  /// Whether the vertex can still reach the sink: the cut with the fewest vertices there.
  func isOnSinkSide(_ vertex: Int) -> Bool { tree[vertex] == .sink }

  /// Pushes all possible flow, at most `ceiling`.
  mutating func run(ceiling: Int) {
    for vertex in first.indices where terminal[vertex] != 0 {
      tree[vertex] = terminal[vertex] > 0 ? .source : .sink
      parent[vertex] = Link.terminal
      distance[vertex] = 1
      activate(vertex)
    }
    var done = 0
    while done < active.count, flow < ceiling {
      let vertex = Int(active[done])
      isActive[vertex] = false
      while tree[vertex] != .none, flow < ceiling, let bridge = grow(from: vertex) {
        time += 1
        augment(over: bridge)
        adopt()
      }
      done += 1
      if done > 4_096, 2 * done > active.count {
        active.removeFirst(done)
        done = 0
      }
    }
  }

  private mutating func activate(_ vertex: Int) {
    if isActive[vertex] { return }
    isActive[vertex] = true
    active.append(Int32(vertex))
  }

  /// Returns the tail of `arc`.
  private func tail(_ arc: Int) -> Int { Int(head[arc ^ 1]) }

  /// Adds free neighbours to the vertex's tree.
  ///
  /// - Returns: an arc from the source's tree to the sink's, if one is found.
  private mutating func grow(from vertex: Int) -> Int? {
    let mine = tree[vertex]
    let flip = mine == .source ? 0 : 1
    var arc = Int(first[vertex])
    while arc >= 0 {
      work += 1
      if residual[arc ^ flip] > 0 {
        let other = Int(head[arc])
        if tree[other] == .none {
          tree[other] = mine
          parent[other] = arc ^ 1
          stamp[other] = stamp[vertex]
          distance[other] = distance[vertex] + 1
          activate(other)
        } else if tree[other] != mine {
          return arc ^ flip
        } else if stamp[other] <= stamp[vertex], distance[other] > distance[vertex] {
          parent[other] = arc ^ 1
          stamp[other] = stamp[vertex]
          distance[other] = distance[vertex] + 1
        }
      }
      arc = Int(next[arc])
    }
    return nil
  }

  private mutating func augment(over bridge: Int) {
    var least = residual[bridge]
    var vertex = tail(bridge)
    while parent[vertex] != Link.terminal {
      least = min(least, residual[parent[vertex] ^ 1])
      vertex = Int(head[parent[vertex]])
    }
    least = min(least, terminal[vertex])
    vertex = Int(head[bridge])
    while parent[vertex] != Link.terminal {
      least = min(least, residual[parent[vertex]])
      vertex = Int(head[parent[vertex]])
    }
    least = min(least, -terminal[vertex])

    residual[bridge] -= least
    residual[bridge ^ 1] += least
    vertex = tail(bridge)
    while parent[vertex] != Link.terminal {
      let arc = parent[vertex] ^ 1
      residual[arc ^ 1] += least
      residual[arc] -= least
      let above = Int(head[parent[vertex]])
      if residual[arc] == 0 { orphan(vertex) }
      vertex = above
    }
    terminal[vertex] -= least
    if terminal[vertex] == 0 { orphan(vertex) }
    vertex = Int(head[bridge])
    while parent[vertex] != Link.terminal {
      let arc = parent[vertex]
      residual[arc ^ 1] += least
      residual[arc] -= least
      let above = Int(head[arc])
      if residual[arc] == 0 { orphan(vertex) }
      vertex = above
    }
    terminal[vertex] += least
    if terminal[vertex] == 0 { orphan(vertex) }
    flow += least
  }

  private mutating func orphan(_ vertex: Int) {
    parent[vertex] = Link.orphan
    orphans.append(Int32(vertex))
  }

  /// Finds the nearest new parent of each orphan in its tree, or makes it free.
  private mutating func adopt() {
    var done = 0
    while done < orphans.count {
      let vertex = Int(orphans[done])
      done += 1
      let mine = tree[vertex]
      let flip = mine == .source ? 1 : 0
      var best = Link.none
      var nearest = Int32.max
      var arc = Int(first[vertex])
      while arc >= 0 {
        work += 1
        let other = Int(head[arc])
        if residual[arc ^ flip] > 0, tree[other] == mine, parent[other] != Link.none,
          let far = distanceToTerminal(other), far < nearest
        {
          best = arc
          nearest = far
        }
        arc = Int(next[arc])
      }
      parent[vertex] = best
      if best != Link.none {
        stamp[vertex] = time
        distance[vertex] = nearest + 1
        continue
      }
      arc = Int(first[vertex])
      while arc >= 0 {
        let other = Int(head[arc])
        if tree[other] == mine, parent[other] != Link.none {
          if residual[arc ^ flip] > 0 { activate(other) }
          if parent[other] >= 0, Int(head[parent[other]]) == vertex { orphan(other) }
        }
        arc = Int(next[arc])
      }
      tree[vertex] = .none
    }
    orphans.removeAll(keepingCapacity: true)
  }

  /// Returns the number of steps to the vertex's terminal; `nil` when its path ends in an orphan. The result is cached
  /// along the path.
  private mutating func distanceToTerminal(_ start: Int) -> Int32? {
    var vertex = start
    var steps: Int32 = 0
    while stamp[vertex] != time {
      work += 1
      let link = parent[vertex]
      if link == Link.terminal {
        stamp[vertex] = time
        distance[vertex] = 1
        break
      }
      if link < 0 { return nil }
      steps += 1
      vertex = Int(head[link])
    }
    let total = distance[vertex] + steps
    var far = total
    vertex = start
    while stamp[vertex] != time {
      stamp[vertex] = time
      distance[vertex] = far
      far -= 1
      vertex = Int(head[parent[vertex]])
    }
    return total
  }

  /// Returns the additional flow when a vertex may not stay on its side: the excess of the minimum cut with the vertex
  /// on the other side. Requires a previous `run`; the state is restored afterwards.
  ///
  /// - Returns: `nil` when more than `limit` arcs would be examined.
  mutating func excess(movingAway vertex: Int, limit: Int, ceiling: Int) -> Int? {
    let flip = isOnSinkSide(vertex) ? 0 : 1
    let stop = work + limit
    var pushed: [(arc: Int, amount: Int)] = []
    var drained: [(vertex: Int, amount: Int)] = []
    var sum = 0
    defer {
      for (arc, amount) in pushed {
        residual[arc] += amount
        residual[arc ^ 1] -= amount
      }
      for (vertex, amount) in drained { terminal[vertex] += amount }
    }
    while sum < ceiling, let end = nearestTerminal(from: vertex, flip: flip, stop: stop) {
      if end < 0 { return nil }
      var least = abs(terminal[end])
      var at = end
      while at != vertex {
        least = min(least, residual[trail[at] ^ flip])
        at = tail(trail[at])
      }
      at = end
      while at != vertex {
        let arc = trail[at] ^ flip
        residual[arc] -= least
        residual[arc ^ 1] += least
        pushed.append((arc, least))
        at = tail(trail[at])
      }
      let amount = terminal[end] > 0 ? least : -least
      terminal[end] -= amount
      drained.append((end, amount))
      sum += least
    }
    return sum
  }

  /// Finds the nearest vertex with residual capacity at the terminal that `start` may not reach: the sink if `flip` is
  /// 0.
  ///
  /// - Returns: `nil` if there is none, -1 if `work` would exceed `stop`.
  private mutating func nearestTerminal(from start: Int, flip: Int, stop: Int) -> Int? {
    if trail.isEmpty {
      trail = Array(repeating: -1, count: first.count)
      seen = Array(repeating: 0, count: first.count)
    }
    round += 1
    seen[start] = round
    var queue = [start]
    var done = 0
    while done < queue.count {
      let vertex = queue[done]
      done += 1
      if flip == 0 ? terminal[vertex] < 0 : terminal[vertex] > 0 { return vertex }
      var arc = Int(first[vertex])
      while arc >= 0 {
        work += 1
        let other = Int(head[arc])
        if residual[arc ^ flip] > 0, seen[other] != round {
          seen[other] = round
          trail[other] = arc
          queue.append(other)
        }
        arc = Int(next[arc])
      }
      if work > stop { return -1 }
    }
    return nil
  }
}
