/// Where the items of a layered graph stand: columns from left to right, heights around the spine at zero, and the
/// places where the drawing may be broken into lines, as text is.
struct GraphLayout {
  struct Metrics {
    var nodeWidth: Double
    var nodeHeight: Double
    /// Left of a node, where links turn.
    var gap: Double
    /// Between items of a column.
    var spacing: Double
    /// Columns that stay together at most.
    var mostColumns: Int

    /// Boxes with the operator and its cost.
    static let full = Metrics(nodeWidth: 88, nodeHeight: 38, gap: 22, spacing: 12, mostColumns: 3)
    /// Squares with the device's letter.
    static let compact = Metrics(nodeWidth: 24, nodeHeight: 24, gap: 14, spacing: 8, mostColumns: 8)

    /// What is right of a node.
    static let margin = 4.0
    static let bendHeight = 4.0
    static let inputHeight = 16.0

    var columnWidth: Double { gap + nodeWidth + Self.margin }
  }

  /// Of a column that holds nothing but inputs.
  static let portWidth = 26.0

  /// From a column's left edge to the next one's.
  func width(_ column: Int) -> Double { hasNodes[column] ? metrics.columnWidth : Self.portWidth }

  let graph: LayeredGraph
  let metrics: Metrics
  /// The middle of each item, downwards; the spine is at zero.
  private(set) var y: [Double]
  /// Runs of columns that are drawn in one piece.
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

  /// Each item near the mean of its neighbours, the order and the distances kept: sweeps of isotonic regression.
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

  /// The heights of a column nearest to the wanted ones by weighted least squares, found by pooling adjacent violators.
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

  /// Breaks where few values pass, by dynamic programming.
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
