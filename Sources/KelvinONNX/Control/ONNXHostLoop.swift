import KelvinGraph
import KelvinImport

/// A `Loop` or `Scan` that the host executes, one iteration after another.
struct ONNXHostLoop {
  struct Carried {
    let start: String
    let given: String
    let left: String
    /// The name of the output; nil if nothing reads it.
    let result: String?
  }

  struct Rows {
    let row: ONNXValueInfo
    /// The name of the output; nil if nothing reads it.
    let result: String?
    var axis = 0
    var isBackwards = false
  }

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
  private(set) var carried: [Carried] = []
  private(set) var scanned: [LoopPart.Scanned] = []
  private(set) var rows: [Rows] = []

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
    carried = (0..<count).map { index in
      Carried(
        start: node.inputs[index + 2], given: body.inputs[index + 2].name, left: body.outputs[index + 1].name,
        result: result(index))
    }
    rows = (count..<(body.outputs.count - 1)).map { Rows(row: body.outputs[$0 + 1], result: result($0)) }
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
    carried = (0..<count).map { index in
      Carried(
        start: node.inputs[index], given: body.inputs[index].name, left: body.outputs[index].name,
        result: result(index))
    }
    scanned = (0..<scannedCount).map { index in
      LoopPart.Scanned(
        whole: node.inputs[count + index], slice: body.inputs[count + index].name, axis: axes[index],
        isBackwards: backwards[index] != 0)
    }
    rows = (0..<rowCount).map { index in
      Rows(
        row: body.outputs[count + index], result: result(count + index), axis: rowAxes[index],
        isBackwards: rowsBackwards[index] != 0)
    }
    return true
  }

  private func result(_ index: Int) -> String? {
    index < node.outputs.count && !node.outputs[index].isEmpty ? node.outputs[index] : nil
  }
}
