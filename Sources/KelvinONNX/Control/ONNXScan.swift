import KelvinGraph
import KelvinImport

extension ONNXControl {
  /// A loop whose iterations take one slice of each scanned input: a gather by the index of the iteration.
  static let scan = ONNXControl(name: "Scan") { operation, source, scope in
    let form = try ScanLayout(operation)
    let writer = ScanWriter(operation: operation, source: source, scope: scope, form: form)
    let results =
      operation.opset < 9 ? try writer.batches() : try writer.turned(writer.sequence(form.states, form.scanned))
    return results.map { .tensor($0) }
  }
}

/// The operands of a `Scan`. Before operator set 9 every operand has a batch axis in front, followed by the sequence
/// axis.
private struct ScanLayout {
  let body: ONNXGraph
  let states: [ValueID]
  let scanned: [ValueID]
  /// For each scanned input, the axis of the sequence within one sample.
  let axes: [Int]
  let isBackwards: [Bool]

  var rowCount: Int { body.outputs.count - states.count }

  init(_ operation: ONNXOperation) throws {
    let emitter = operation.emitter
    let isBatched = operation.opset < 9
    // Before operator set 9 the first input holds the lengths of the samples.
    if isBatched, operation.optional(0) != nil {
      throw operation.unsupported("sequences of different lengths", remedy: "convert it to operator set 9 or later")
    }
    body = try operation.graph("body")
    let first = isBatched ? 1 : 0
    let count = operation.inputs.count - first
    let scannedCount = operation.integer("num_scan_inputs", default: 0)
    let stateCount = count - scannedCount
    guard scannedCount > 0, stateCount >= 0, body.inputs.count == count, body.outputs.count >= stateCount else {
      throw emitter.invalid("its body does not have its inputs and outputs")
    }
    states = try (0..<stateCount).map { try operation.input(first + $0) }
    scanned = try (0..<scannedCount).map { try operation.input(first + stateCount + $0) }
    isBackwards = try operation.list(isBatched ? "directions" : "scan_input_directions", scannedCount).map { $0 != 0 }
    axes =
      isBatched
      ? scanned.map { _ in 0 }
      : try zip(operation.list("scan_input_axes", scannedCount), scanned).map { try emitter.axis($0, of: $1) }
  }
}

private struct ScanWriter {
  let operation: ONNXOperation
  let source: ONNXGraphSource
  let scope: ONNXScope
  let form: ScanLayout

  private var emitter: Emitter { operation.emitter }
  private var name: String { operation.node.name }

  /// Returns the final states of a sequence, and for each other output of the body a row per iteration.
  ///
  /// - Parameter step: The name of the sequence as a step of the operation; nil if it is the whole operation.
  func sequence(_ states: [ValueID], _ scanned: [ValueID], step: String? = nil) throws -> [ValueID] {
    guard zip(form.axes, scanned).allSatisfy({ emitter.shape($1).rank > $0 }) else {
      throw emitter.invalid("scans \(scanned.map { emitter.type($0) }) along the axes \(form.axes)")
    }
    let trips = emitter.shape(scanned[0])[form.axes[0]]
    guard zip(form.axes, scanned).allSatisfy({ emitter.shape($1)[$0] == trips }) else {
      throw emitter.invalid("the axes that it scans differ in size")
    }
    let types = states.map { emitter.type($0) }
    var rows: [TensorType] = []
    let depth = emitter.depth
    let region = try emitter.region(.body) {
      try scope.inside(form.body) {
        let number = try emitter.input("\(name)/trip", TensorType(.int64, []))
        for (info, type) in zip(form.body.inputs, types) {
          try scope.define(info.name, try emitter.input("\(name)/\(info.name)", type), by: "body")
        }
        for (index, info) in form.body.inputs.dropFirst(states.count).enumerated() {
          var place = number
          if form.isBackwards[index] {
            let last = emitter.constant(Double(trips - 1), .int64, step: "last\(index)")
            place = try emitter.binary(.subtract, last, number, step: "place\(index)")
          }
          let whole = emitter.value(scanned[index], of: depth)
          let slice = try emitter.add(Gather(axis: form.axes[index]), [whole, place], step: "slice\(index)")
          try scope.define(info.name, slice, by: "body")
        }
        let results = try source.outputs(of: form.body, operation, scope)
        try operation.checkCarried(types, results)
        rows = results.dropFirst(states.count).map { emitter.type($0) }
        return results
      }
    }
    let limit = emitter.constant(integers: [trips], .int64, shape: [])
    return try operation.loop(region, limit: limit, condition: nil, states, rows, step: step)
  }

  /// Returns the outputs with rows along the axes, and in the order, that attributes define.
  func turned(_ results: [ValueID]) throws -> [ValueID] {
    let axes = try operation.list("scan_output_axes", form.rowCount)
    let backwards = try operation.list("scan_output_directions", form.rowCount)
    var results = results
    for index in 0..<form.rowCount {
      var rows = results[form.states.count + index]
      let trips = emitter.shape(rows)[0]
      if backwards[index] != 0, trips > 0 {
        let order = emitter.constant(integers: Array((0..<trips).reversed()))
        rows = try emitter.add(Gather(axis: 0), [rows, order], step: "turned\(index)")
      }
      let axis = try emitter.axis(axes[index], of: rows)
      if axis > 0 {
        let rank = emitter.shape(rows).rank
        rows = try emitter.transpose(rows, Array(1...axis) + [0] + Array((axis + 1)..<rank), step: "moved\(index)")
      }
      results[form.states.count + index] = rows
    }
    return results
  }

  /// Scans one sample after another, and joins their results.
  func batches() throws -> [ValueID] {
    let operands = form.states + form.scanned
    guard let count = operands.map({ emitter.shape($0).dimensions.first ?? -1 }).min(), count >= 0,
      operands.allSatisfy({ emitter.shape($0)[0] == count })
    else { throw emitter.invalid("samples of \(operands.map { emitter.type($0) })") }
    var rows: [TensorType] = []
    let depth = emitter.depth
    let region = try emitter.region(.body) {
      let number = try emitter.input("\(name)/sample", TensorType(.int64, []))
      let own = try operands.enumerated().map { index, whole in
        try emitter.add(Gather(axis: 0), [emitter.value(whole, of: depth), number], step: "sample\(index)")
      }
      let results = try sequence(
        Array(own.prefix(form.states.count)), Array(own.dropFirst(form.states.count)), step: "sequence")
      rows = results.map { emitter.type($0) }
      return results
    }
    let limit = emitter.constant(integers: [count], .int64, shape: [])
    return try operation.loop(region, limit: limit, condition: nil, [], rows)
  }
}

extension ONNXOperation {
  /// Returns an attribute with the given number of integers, 0 if it is omitted.
  fileprivate func list(_ name: String, _ count: Int) throws -> [Int] {
    let values = integers(name) ?? Array(repeating: 0, count: count)
    guard values.count == count else {
      throw emitter.invalid("\(name) has \(values.count) entries, expected \(count)")
    }
    return values
  }
}
