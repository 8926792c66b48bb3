import KelvinPlanning

/// A layered drawing of a placement's nodes, with links between neighbouring columns only. A node's column is its
/// longest distance from an input. A value that passes a column is carried by a *bend*. All readers of a value share
/// its bends.
struct LayeredGraph {
  /// The largest number of bends. Links that would need more are omitted and counted.
  static let mostBends = 20_000

  enum Kind: Hashable {
    /// A node, by its index in the placement.
    case node(Int)
    /// An input of the graph, by name.
    case input(String)
    /// An item that carries the value of another item through its column.
    case bend
  }

  struct Item {
    var kind: Kind
    var column: Int
    /// The items of the previous column whose values this item reads or carries.
    var left: [Int] = []
    /// The items of the next column that read or carry this item's value.
    var right: [Int] = []
  }

  private(set) var items: [Item] = []
  /// The item indices of each column, from top to bottom.
  private(set) var columns: [[Int]] = []
  /// The number of links that are not drawn.
  private(set) var omittedLinks = 0
  /// The items of the longest path through the graph, at most one per column.
  private(set) var spine: [Int?] = []

  /// - Parameter nodes: The nodes in topological order. An input that does not name an earlier node is an input of the
  ///   graph. If no node has inputs, the nodes are drawn as a chain.
  init(_ nodes: [Plan.Node]) {
    let isChain = nodes.allSatisfy(\.inputs.isEmpty)
    var latest: [String: Int] = [:]
    var inputs: [String: Int] = [:]
    var sources = [[Int]](repeating: [], count: nodes.count)
    items = nodes.indices.map { Item(kind: .node($0), column: 0) }
    for (number, node) in nodes.enumerated() {
      var known = Set<Int>()
      let names = isChain && number > 0 ? [nodes[number - 1].name] : node.inputs
      for name in names {
        let source: Int
        if let maker = latest[name] {
          source = maker
        } else if let earlier = inputs[name] {
          source = earlier
        } else {
          source = items.count
          inputs[name] = source
          items.append(Item(kind: .input(name), column: 0))
        }
        if known.insert(source).inserted { sources[number].append(source) }
      }
      latest[node.name] = number
    }
    assignColumns(sources)
    link(sources)
    findSpine(nodes)
    order()
  }

  private mutating func assignColumns(_ sources: [[Int]]) {
    for number in sources.indices {
      let before = sources[number].map { $0 < sources.count ? items[$0].column + 1 : 1 }
      items[number].column = before.max() ?? 0
    }
    // An item without inputs is placed just before its first reader.
    var earliest = [Int](repeating: .max, count: items.count)
    for number in sources.indices {
      for source in sources[number] { earliest[source] = min(earliest[source], items[number].column) }
    }
    for number in items.indices where earliest[number] != .max {
      if number >= sources.count || sources[number].isEmpty { items[number].column = max(earliest[number] - 1, 0) }
    }
  }

  private mutating func link(_ sources: [[Int]]) {
    var readers = [[Int]](repeating: [], count: items.count)
    for number in sources.indices {
      for source in sources[number] { readers[source].append(number) }
    }
    let last = readers.indices.map { source in readers[source].map { items[$0].column }.max() ?? 0 }
    func span(_ source: Int) -> Int { max(last[source] - items[source].column - 1, 0) }
    var bends = 0
    for source in readers.indices.sorted(by: { (span($0), $0) < (span($1), $1) }) where !readers[source].isEmpty {
      let fits = bends + span(source) <= Self.mostBends
      bends += fits ? span(source) : 0
      var carriers = [source]
      if fits {
        for column in (items[source].column + 1)..<max(last[source], items[source].column + 1) {
          items.append(Item(kind: .bend, column: column))
          connect(carriers[carriers.count - 1], items.count - 1)
          carriers.append(items.count - 1)
        }
      }
      for reader in readers[source] {
        let distance = items[reader].column - items[source].column - 1
        guard distance < carriers.count else {
          omittedLinks += 1
          continue
        }
        connect(carriers[distance], reader)
      }
    }
  }

  private mutating func connect(_ from: Int, _ to: Int) {
    items[from].right.append(to)
    items[to].left.append(from)
  }

  /// Selects the spine backwards from the last column, by the costliest neighbour in each step.
  private mutating func findSpine(_ nodes: [Plan.Node]) {
    let count = (items.map(\.column).max() ?? -1) + 1
    spine = [Int?](repeating: nil, count: count)
    func weight(_ item: Int) -> Double {
      switch items[item].kind {
      case .node(let number): (nodes[number].chosen?.seconds ?? 0) + 1e-12
      case .input: 1e-13
      case .bend: 0
      }
    }
    var next = items.indices.filter { items[$0].column == count - 1 }.max { weight($0) < weight($1) }
    while let item = next {
      spine[items[item].column] = item
      next = items[item].left.max { weight($0) < weight($1) }
    }
  }
}

extension LayeredGraph {
  /// Orders each column to reduce crossings. Sweeps over the columns sort each item by the mean position of its
  /// neighbours, and the best order is kept (K. Sugiyama, S. Tagawa, M. Toda, IEEE Trans. SMC 11(2), 1981).
  fileprivate mutating func order() {
    columns = [[Int]](repeating: [], count: spine.count)
    for item in items.indices { columns[items[item].column].append(item) }
    var position = [Double](repeating: 0, count: items.count)
    func number(_ column: [Int]) {
      for (place, item) in column.enumerated() { position[item] = Double(place) }
    }
    columns.forEach(number)
    guard items.count <= 4 * Self.mostBends, columns.contains(where: { $0.count > 1 }) else { return }
    func mean(_ neighbours: [Int], _ otherwise: Double) -> Double {
      neighbours.isEmpty ? otherwise : neighbours.reduce(0) { $0 + position[$1] } / Double(neighbours.count)
    }
    var best = columns
    var fewest = crossings(position)
    for sweep in 0..<8 where fewest > 0 {
      let forward = sweep.isMultiple(of: 2)
      let sequence = forward ? Array(columns.indices) : columns.indices.reversed()
      for column in sequence where columns[column].count > 1 {
        let keys = columns[column].map { item in
          (mean(forward ? items[item].left : items[item].right, position[item]), position[item], item)
        }
        columns[column] = keys.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
        number(columns[column])
      }
      let now = crossings(position)
      if now < fewest { (best, fewest) = (columns, now) }
    }
    columns = best
  }

  /// Returns the number of crossing pairs of links, as inversions counted with a Fenwick tree in O(links × log width).
  private func crossings(_ position: [Double]) -> Int {
    var total = 0
    for column in columns.dropLast() {
      let width = column.flatMap { items[$0].right }.map { Int(position[$0]) }.max().map { $0 + 1 } ?? 0
      guard width > 1 else { continue }
      var tree = [Int](repeating: 0, count: width + 1)
      var seen = 0
      for item in column {
        let targets = items[item].right.map { Int(position[$0]) }.sorted()
        for target in targets {
          var index = target + 1
          var below = 0
          while index > 0 {
            below += tree[index]
            index -= index & -index
          }
          total += seen - below
        }
        for target in targets {
          var index = target + 1
          while index <= width {
            tree[index] += 1
            index += index & -index
          }
          seen += 1
        }
      }
    }
    return total
  }
}
