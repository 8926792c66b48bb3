package import KelvinGraph

/// Joins the linear layers that compute queries, keys and values of an attention from one tensor. Their results become
/// adjacent columns of one tensor, which `Attention` and `UpdateCache` read with strides. The rows are thus read and
/// packed only once, and no node splits the result.
package struct JoinProjections: Pass {
  package static let name = "join projections"

  package init() {}

  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var edits = GraphEdits(Self.self, graph)
    for index in graph.nodes.indices {
      guard let node = edits.node(index), node.op is Attention else { continue }
      var readers = [index]
      // Keys and values may reach the attention through its caches.
      if let update = edits.producer(of: node.inputs[1]), edits.node(update)?.op is UpdateCache {
        readers.append(update)
      }
      let projections = readers.flatMap { reader in
        let operands = (edits.node(reader)?.op as? any StridedReader)?.operands ?? 0..<0
        return operands.compactMap { Projection(of: $0, in: reader, edits) }
      }
      // Self-attention has three projections of one source, cross-attention keys and values.
      for first in projections.indices {
        let joined = projections[first...].filter { $0.kind == projections[first].kind }
        guard joined.count > 1, !projections[..<first].contains(where: { $0.kind == projections[first].kind }) else {
          continue
        }
        try join(joined, &edits)
      }
    }
    return edits.finish()
  }

  private func join(_ parts: [Projection], _ edits: inout GraphEdits) throws(GraphError) {
    let parts = parts.sorted { $0.index < $1.index }
    let first = parts[0].linear
    let rows = edits.type(first.outputs[0])
    let widths = parts.map(\.width)
    let width = widths.reduce(0, +)
    let type = TensorType(rows.scalar, Shape(rows.shape.dimensions.dropLast() + [width]))
    var columns: [Int] = []
    var nodes: [Int: Node] = [:]
    for part in parts {
      let column = (columns.last ?? 0) + (columns.isEmpty ? 0 : parts[columns.count - 1].width)
      columns.append(column)
      guard var node = nodes[part.reader] ?? edits.node(part.reader), var op = node.op as? any StridedReader,
        let view = RowView(op[view: part.operand], op.sizes(of: part.operand), width: part.width)
      else { return }
      op[view: part.operand] = view.moved(toRowsOf: width, column: column)
      node.op = op
      nodes[part.reader] = node
    }

    let hasBias = parts.contains { $0.bias != nil }
    var inputs = [parts[0].kind.source]
    for (place, name) in ["weights", "scales", "zeros"].prefix(parts[0].parameters.count).enumerated() {
      let joined = Weight.joined(parts.map { $0.parameters[place] })
      inputs.append(edits.addWeight("\(first.name)#joined_\(name)", joined))
    }
    if hasBias {
      let biases = parts.map { $0.bias ?? .zeros(rows.scalar, $0.width) }
      inputs.append(edits.addWeight("\(first.name)#joined_bias", .joined(biases)))
    }
    let output = edits.addValue("\(first.name)#joined", type)
    let origins = parts.flatMap(\.linear.origins)
    var op = parts[0].op
    op.epilogue = Epilogue(hasBias: hasBias)
    edits.rewrite(
      parts[0].index,
      try .decomposable(
        name: first.name, op: op, inputs: inputs, types: inputs.map(edits.type), output: output, origins: origins))
    for part in parts.dropFirst() { edits.remove(part.index) }

    for (reader, node) in nodes.sorted(by: { $0.key < $1.key }) {
      var node = node
      let own = zip(parts, columns).filter { $0.0.reader == reader }
      for (part, _) in own { node.inputs[part.operand] = output }
      node.body?.takeApart(type, own.map { ($0.0.operand, $0.1, $0.0.width) })
      edits.rewrite(reader, node)
    }
    edits.note(origins, "the projections of one tensor for attention are one product")
  }
}

/// A linear layer whose result is only an operand of an attention, or of the update of its caches.
private struct Projection {
  /// The index of the node that reads the result, and its operand.
  let reader: Int
  let operand: Int
  /// The layer's index in the graph.
  let index: Int
  let linear: Node
  let op: any FusedOperator
  /// The constants with one row or element for each column: the weights, and for integers their scales and zero points.
  let parameters: [Weight]
  let bias: Weight?
  var kind: Kind { Kind(source: linear.inputs[0], op: linear.op.name, weights: parameters[0].type.scalar) }
  /// The number of columns of its result.
  var width: Int { parameters[0].type.shape[0] }

  /// The properties that joined layers share.
  struct Kind: Hashable {
    let source: ValueID
    let op: String
    let weights: ScalarType
  }

  init?(of operand: Int, in reader: Int, _ edits: GraphEdits) {
    guard let node = edits.node(reader) else { return nil }
    let value = node.inputs[operand]
    // A tensor that holds several operands is joined already.
    guard node.inputs.filter({ $0 == value }).count == 1, edits.onlyConsumer(of: value) != nil,
      let index = edits.producer(of: value), let linear = edits.node(index),
      linear.op is Linear || linear.op is LinearInteger,
      let op = linear.op as? any FusedOperator, !op.epilogue.isFused
    else { return nil }
    // Joined weights are dense, while compressed ones stay separate for devices that unpack codes.
    let constants = linear.inputs.dropFirst().map { edits.weight($0) }
    guard !constants.contains(where: { $0?.isCompressed ?? true }) else { return nil }
    var parameters = constants.compactMap(\.self)
    bias = op.epilogue.hasBias ? parameters.removeLast() : nil
    let width = parameters[0].type.shape[0]
    self.parameters = parameters.map { $0.type.shape.rank < 2 ? $0.repeated(width) : $0 }
    self.reader = reader
    self.operand = operand
    self.index = index
    self.linear = linear
    self.op = op
  }
}

/// A view of a tensor of rows, split into rows and columns.
private struct RowView {
  /// For the first element and the step of each axis: `rows[i] * width + columns[i]` is the distance in memory.
  private let rows: [Int]
  private let columns: [Int]

  /// Creates the view; nil if it crosses from one row into the next.
  ///
  /// - Parameters:
  ///   - view: An offset and strides, in elements.
  ///   - width: The number of columns of a row.
  init?(_ view: [Int], _ sizes: [Int], width: Int) {
    rows = view.map { $0 / width }
    columns = view.map { $0 % width }
    let last = zip(columns[1...], sizes).reduce(columns[0]) { $0 + $1.0 * ($1.1 - 1) }
    guard last < width else { return nil }
  }

  /// Returns the offset and strides of the same elements in longer rows, from the column `column` on.
  func moved(toRowsOf width: Int, column: Int) -> [Int] {
    var view = zip(rows, columns).map { $0 * width + $1 }
    view[0] += column
    return view
  }
}

/// An operator that reads operands as views: offsets and four strides.
private protocol StridedReader: Operator {
  /// The inputs that it reads as views.
  var operands: Range<Int> { get }
  subscript(view operand: Int) -> [Int] { get set }
  /// Returns the numbers of batches, heads, rows and elements of an operand.
  func sizes(of operand: Int) -> [Int]
}

extension Attention: StridedReader {
  fileprivate var operands: Range<Int> { 0..<3 }

  fileprivate subscript(view operand: Int) -> [Int] {
    get { [query, key, value][operand] }
    set {
      switch operand {
      case 0: query = newValue
      case 1: key = newValue
      default: value = newValue
      }
    }
  }

  fileprivate func sizes(of operand: Int) -> [Int] {
    [batch, operand == 0 ? heads : keyHeads, operand == 0 ? queries : keys, operand == 2 ? valueWidth : width]
  }
}

extension UpdateCache: StridedReader {
  fileprivate var operands: Range<Int> { 2..<4 }

  fileprivate subscript(view operand: Int) -> [Int] {
    get { operand == 2 ? key : value }
    set { if operand == 2 { key = newValue } else { value = newValue } }
  }

  fileprivate func sizes(of operand: Int) -> [Int] { [batch, heads, rows, operand == 2 ? width : valueWidth] }
}

extension Graph {
  /// Replaces inputs of a body, each a separate tensor, by columns of one joined tensor.
  ///
  /// - Parameter parts: the input, its first column and its number of columns.
  fileprivate mutating func takeApart(_ type: TensorType, _ parts: [(place: Int, column: Int, width: Int)]) {
    let rank = type.shape.rank
    let joined = parts.map { addValue(Value(name: "joined\($0.place)", type: type)) }
    var slices: [Node] = []
    for (place, column, width) in parts {
      var (starts, counts) = ([Int](repeating: 0, count: rank), type.shape.dimensions)
      (starts[rank - 1], counts[rank - 1]) = (column, width)
      let slice = Slice(starts: starts, counts: counts, steps: counts.map { _ in 1 })
      slices.append(
        Node(name: "part\(place)", op: slice, inputs: [joined[0]], outputs: [inputs[place]], origins: []))
    }
    for (part, value) in zip(parts, joined) { inputs[part.place] = value }
    nodes = slices + nodes
  }
}

extension Weight {
  fileprivate static func zeros(_ scalar: ScalarType, _ count: Int) -> Weight {
    Weight(Tensor(TensorType(scalar, [count]), rounding: [Double](repeating: 0, count: count)))
  }
}
