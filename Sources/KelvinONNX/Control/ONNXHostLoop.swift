import KelvinGraph
import KelvinImport

/// A `Loop` or `Scan` that the host executes, one iteration after another.
struct ONNXHostLoop {
  let node: ONNXNode
  let body: ONNXGraph
  /// The value that holds the greatest number of iterations.
  private(set) var limit: String?
  /// The value that tells whether there is a first iteration.
  private(set) var condition: String?
  /// The body's input for the index of the iteration.
  private(set) var trip: ONNXValueInfo?
  /// The body's input for the condition, which is true in each iteration.
  private(set) var truth: String?
  /// The body's output that tells whether there is another iteration.
  private(set) var goesOn: String?
  private(set) var carried: [LoopPart.Carried] = []
  private(set) var scanned: [LoopPart.Scanned] = []
  /// The accumulated outputs, except those that nothing reads.
  private(set) var rows: [LoopPart.Rows] = []

  /// The inputs of an iteration besides the carried values.
  var given: [String] { [trip?.name].compactMap { $0 } + scanned.map(\.slice) }

  /// Returns nil if the operator is not a well-formed loop, which graph building refuses.
  init?(_ node: ONNXNode) throws(FormatError) {
    guard let body = try node.attributes["body"]?.subgraphs().first, body.inputs.count == node.inputs.count else {
      return nil
    }
    (self.node, self.body) = (node, body)
    switch node.qualifiedKind {
    case ONNXControl.loop.name: guard readLoop() else { return nil }
    case ONNXControl.scan.name: guard readScan() else { return nil }
    default: return nil
    }
  }

  private mutating func readLoop() -> Bool {
    let count = node.inputs.count - 2
    guard count >= 0, body.outputs.count > count else { return false }
    limit = node.inputs[0].isEmpty ? nil : node.inputs[0]
    condition = node.inputs[1].isEmpty ? nil : node.inputs[1]
    (trip, truth, goesOn) = (body.inputs[0], body.inputs[1].name, body.outputs[0].name)
    carry(count, from: 2, left: 1)
    rows = (count..<(body.outputs.count - 1)).compactMap { rows(of: body.outputs[$0 + 1], result: $0) }
    return true
  }

  private mutating func readScan() -> Bool {
    let scannedCount = node.attributes["num_scan_inputs"]?.integer ?? 0
    guard (1...max(node.inputs.count, 1)).contains(scannedCount) else { return false }
    let count = node.inputs.count - scannedCount
    let rowCount = body.outputs.count - count
    func list(_ name: String, _ count: Int) -> [Int]? {
      let values = node.attributes[name]?.integers ?? Array(repeating: 0, count: count)
      return values.count == count ? values : nil
    }
    guard rowCount >= 0, let axes = list("scan_input_axes", scannedCount),
      let backwards = list("scan_input_directions", scannedCount), let rowAxes = list("scan_output_axes", rowCount),
      let rowsBackwards = list("scan_output_directions", rowCount)
    else { return false }
    carry(count, from: 0, left: 0)
    scanned = (0..<scannedCount).map { index in
      LoopPart.Scanned(
        whole: node.inputs[count + index], slice: body.inputs[count + index].name, axis: axes[index],
        isBackwards: backwards[index] != 0)
    }
    rows = (0..<rowCount).compactMap { index in
      rows(
        of: body.outputs[count + index], result: count + index, axis: rowAxes[index],
        isBackwards: rowsBackwards[index] != 0)
    }
    return true
  }

  /// Sets the carried values, given the places of the first ones among the inputs and the body's outputs.
  private mutating func carry(_ count: Int, from input: Int, left output: Int) {
    carried = (0..<count).map { index in
      LoopPart.Carried(
        start: node.inputs[index + input], given: body.inputs[index + input].name,
        left: body.outputs[index + output].name, result: result(index))
    }
  }

  private func rows(
    of row: ONNXValueInfo, result index: Int, axis: Int = 0, isBackwards: Bool = false
  ) -> LoopPart.Rows? {
    result(index).map {
      LoopPart.Rows(row: row.name, result: $0, rowType: row.rowType, axis: axis, isBackwards: isBackwards)
    }
  }

  /// Returns the name of an output; nil if nothing reads it.
  private func result(_ index: Int) -> String? {
    index < node.outputs.count && !node.outputs[index].isEmpty ? node.outputs[index] : nil
  }
}

extension ONNXValueInfo {
  /// The type of an accumulated output without rows, for a loop without iterations. It has the sizes that the file
  /// declares.
  fileprivate var rowType: TensorType {
    let scalar = elementType.flatMap(ScalarType.init(onnx:)) ?? lowPrecisionType?.scalar ?? .float32
    return TensorType(scalar, Shape((sizes ?? []).map { max($0.value ?? 0, 0) }))
  }
}
