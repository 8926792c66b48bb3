import KelvinGraph

extension ONNXControl {
  /// A loop whose trips take one slice of each scanned input: a gather by the number of the trip.
  static let scan = ONNXControl(name: "Scan") { operation, source, scope in
    let emitter = operation.emitter
    guard operation.opset >= 9 else { throw operation.unsupported("Scan before operator set 9") }
    let body = try operation.graph("body")
    let scannedCount = operation.integer("num_scan_inputs", default: 0)
    let stateCount = operation.inputs.count - scannedCount
    guard scannedCount > 0, stateCount >= 0, body.inputs.count == operation.inputs.count,
      body.outputs.count >= stateCount
    else { throw emitter.invalid("its body does not have its inputs and outputs") }
    let rowCount = body.outputs.count - stateCount
    let states = try (0..<stateCount).map { try operation.input($0) }
    let scanned = try (0..<scannedCount).map { try operation.input(stateCount + $0) }
    func list(_ name: String, _ count: Int) throws -> [Int] {
      let values = operation.integers(name) ?? Array(repeating: 0, count: count)
      guard values.count == count else {
        throw emitter.invalid("\(name) has \(values.count) entries, expected \(count)")
      }
      return values
    }
    let backwards = try list("scan_input_directions", scannedCount)
    let axes = try zip(list("scan_input_axes", scannedCount), scanned).map { try emitter.axis($0, of: $1) }
    let trips = emitter.shape(scanned[0])[axes[0]]
    guard zip(axes, scanned).allSatisfy({ emitter.shape($1)[$0] == trips }) else {
      throw emitter.invalid("the axes that it scans differ in size")
    }
    let types = states.map { emitter.type($0) }
    var rows: [TensorType] = []
    let depth = emitter.depth
    let region = try emitter.region(.body) {
      try scope.inside(body) {
        let number = try emitter.input("\(operation.node.name)/trip", TensorType(.int64, []))
        for (info, type) in zip(body.inputs, types) {
          try scope.define(info.name, try emitter.input("\(operation.node.name)/\(info.name)", type), by: "body")
        }
        for (index, info) in body.inputs.dropFirst(stateCount).enumerated() {
          var place = number
          if backwards[index] != 0 {
            let last = emitter.constant(Double(trips - 1), .int64, step: "last\(index)")
            place = try emitter.binary(.subtract, last, number, step: "place\(index)")
          }
          let whole = emitter.value(scanned[index], of: depth)
          try scope.define(
            info.name, try emitter.add(Gather(axis: axes[index]), [whole, place], step: "slice\(index)"), by: "body")
        }
        let results = try source.outputs(of: body, operation, scope)
        rows = results.dropFirst(stateCount).map { emitter.type($0) }
        return results
      }
    }
    let limit = emitter.constant(integers: [trips], .int64, shape: [])
    var results = try operation.loop(region, limit: limit, condition: nil, states, rows)
    let outputAxes = try list("scan_output_axes", rowCount)
    let outputBackwards = try list("scan_output_directions", rowCount)
    for index in 0..<rowCount {
      var rows = results[stateCount + index]
      if outputBackwards[index] != 0, trips > 0 {
        let order = emitter.constant(integers: Array((0..<trips).reversed()))
        rows = try emitter.add(Gather(axis: 0), [rows, order], step: "turned\(index)")
      }
      let axis = try emitter.axis(outputAxes[index], of: rows)
      if axis > 0 {
        let rank = emitter.shape(rows).rank
        rows = try emitter.transpose(rows, Array(1...axis) + [0] + Array((axis + 1)..<rank), step: "moved\(index)")
      }
      results[stateCount + index] = rows
    }
    return results.map { .tensor($0) }
  }
}
