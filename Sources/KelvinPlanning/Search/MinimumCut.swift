/// A least cut between a source and a sink: two search trees, one from each end, that grow until they touch, and are
/// mended rather than grown anew after each augmentation.
///
/// Boykov and Kolmogorov, "An experimental comparison of min-cut/max-flow algorithms for energy minimization in vision",
/// PAMI 26(9), 2004. Capacities are integers, so that the flow is exact. The order of the calls decides all ties in the
/// search; the cut that is read off does not depend on it: it is the one with fewest vertices on the sink's side.
struct MinimumCut {
  private enum Tree: UInt8 { case none, source, sink }
  private enum Link {
    static let none = -1
    static let terminal = -2
    static let orphan = -3
  }

  /// Arcs in pairs: `arc ^ 1` leads back.
  private var head: [Int32] = []
  private var residual: [Int] = []
  private var next: [Int32] = []
  private var first: [Int32]
  /// What is left of the arc from the source where positive, of that to the sink where negative.
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
  /// Of the last search from one vertex: the arc by which each was reached.
  private var trail: [Int] = []
  private var seen: [Int32] = []
  private var round: Int32 = 0
  private(set) var flow = 0
  /// Arcs looked at: the size of the search, in place of its time.
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

  /// The capacity from the source where positive, of the arc to the sink where negative.
  mutating func tie(_ vertex: Int, _ capacity: Int) { terminal[vertex] = capacity }

  /// Whether the vertex can still reach the sink: the cut with fewest vertices there.
  func isOnSinkSide(_ vertex: Int) -> Bool { tree[vertex] == .sink }

  /// Pushes all flow that goes, or as much as `ceiling`.
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

  /// The tail of `arc`.
  private func tail(_ arc: Int) -> Int { Int(head[arc ^ 1]) }

  /// Takes free neighbours into the vertex's tree.
  /// - Returns: an arc from the source's tree to the sink's, where one is met.
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

  /// Finds each orphan the nearest new parent in its tree, or sets it free.
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

  /// Steps to the vertex's terminal; `nil` where its path ends in an orphan. The path remembers what was found.
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

  /// The flow that is added when a vertex may not stay on its side: by so much the least cut with it on the other side
  /// exceeds the least of all. `run` comes first, and nothing changes.
  ///
  /// - Returns: `nil` where it takes more than `limit` arcs to find out.
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

  /// The nearest vertex with capacity left at the terminal that `start` may not reach: the sink's where `flip` is 0.
  /// - Returns: `nil` where there is none, -1 where `work` would pass `stop`.
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
