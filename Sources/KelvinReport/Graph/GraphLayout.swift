/// The layout of a layered graph: columns from left to right, vertical positions relative to the spine at zero, and the
/// division into pieces between which lines may break.
struct GraphLayout {
  struct Metrics {
    var nodeWidth: Double
    var nodeHeight: Double
    /// The space left of a node, in which links turn.
    var gap: Double
    /// The space between the items of a column.
    var spacing: Double
    /// The largest number of columns in a piece.
    var mostColumns: Int

    /// The metrics of boxes with the operator and its cost.
    static let full = Metrics(nodeWidth: 88, nodeHeight: 38, gap: 22, spacing: 12, mostColumns: 3)
    /// The metrics of squares with the device's letter.
    static let compact = Metrics(nodeWidth: 24, nodeHeight: 24, gap: 14, spacing: 8, mostColumns: 8)

    /// The space right of a node.
    static let margin = 4.0
    static let bendHeight = 4.0
    static let inputHeight = 16.0

    var columnWidth: Double { gap + nodeWidth + Self.margin }
  }

  /// The width of a column that holds only inputs.
  static let portWidth = 26.0

  /// Returns the distance from a column's left edge to the next column's.
  func width(_ column: Int) -> Double { hasNodes[column] ? metrics.columnWidth : Self.portWidth }

  let graph: LayeredGraph
  let metrics: Metrics
  /// The vertical centre of each item, growing downwards; the spine is at zero.
  private(set) var y: [Double]
  /// The ranges of columns that are drawn in one piece.
  private(set) var pieces: [Range<Int>] = []
  private let hasNodes: [Bool]

  init(_ graph: LayeredGraph, _ metrics: Metrics) {
    self.graph = graph
    self.metrics = metrics
    y = [Double](repeating: 0, count: graph.items.count)
    hasNodes = graph.columns.map { column in
      column.contains { if case .node = graph.items[$0].kind { true } else { false } }
    }
    place()
    breakIntoPieces()
  }

  func height(_ item: Int) -> Double {
    switch graph.items[item].kind {
    case .node: metrics.nodeHeight
    case .input: Metrics.inputHeight
    case .bend: Metrics.bendHeight
    }
  }

  /// Moves each item near the mean of its neighbours, preserving order and distances, by sweeps of isotonic regression.
  private mutating func place() {
    for column in graph.columns.indices { settle(column, wanted: graph.columns[column].map { _ in 0 }) }
    guard graph.columns.contains(where: { $0.count > 1 }) else { return }
    for sweep in 0..<6 {
      let forward = sweep.isMultiple(of: 2)
      for column in forward ? Array(graph.columns.indices) : graph.columns.indices.reversed() {
        let wanted = graph.columns[column].map { item in
          let neighbours = forward ? graph.items[item].left : graph.items[item].right
          return neighbours.isEmpty ? y[item] : neighbours.reduce(0) { $0 + y[$1] } / Double(neighbours.count)
        }
        settle(column, wanted: wanted)
      }
    }
  }

  /// Assigns the positions of a column nearest to the wanted ones (weighted least squares, pool adjacent violators).
  private mutating func settle(_ column: Int, wanted: [Double]) {
    let items = graph.columns[column]
    var offset = 0.0
    var offsets: [Double] = []
    for (place, item) in items.enumerated() {
      if place > 0 { offset += (height(items[place - 1]) + height(item)) / 2 + metrics.spacing }
      offsets.append(offset)
    }
    var blocks: [(value: Double, weight: Double, count: Int)] = []
    for (place, item) in items.enumerated() {
      let isSpine = graph.spine[column] == item
      let weight: Double = isSpine ? 1e9 : graph.items[item].kind == .bend ? 4 : 1
      blocks.append(((isSpine ? 0 : wanted[place]) - offsets[place], weight, 1))
      while blocks.count > 1, blocks[blocks.count - 2].value > blocks[blocks.count - 1].value {
        let (a, b) = (blocks[blocks.count - 2], blocks.removeLast())
        let weight = a.weight + b.weight
        blocks[blocks.count - 1] = (
          (a.value * a.weight + b.value * b.weight) / weight, weight, a.count + b.count
        )
      }
    }
    var place = 0
    for block in blocks {
      for _ in 0..<block.count {
        y[items[place]] = ((block.value + offsets[place]) * 10).rounded() / 10
        place += 1
      }
    }
  }

  /// Chooses breaks where few links pass, by dynamic programming.
  private mutating func breakIntoPieces() {
    let count = graph.columns.count
    let passing = graph.columns.map { column in Double(column.count { !graph.items[$0].right.isEmpty }) }
    var cost = [Double](repeating: .infinity, count: count + 1)
    var start = [Int](repeating: 0, count: count + 1)
    cost[0] = 0
    for end in stride(from: 1, through: count, by: 1) {
      for length in 1...min(metrics.mostColumns, end) {
        let through = end < count ? passing[end - 1] : 0
        let total = cost[end - length] + through + 0.5
        if total < cost[end] { (cost[end], start[end]) = (total, end - length) }
      }
    }
    var end = count
    while end > 0 {
      pieces.append(start[end]..<end)
      end = start[end]
    }
    pieces.reverse()
  }
}
