import KelvinGraph
import KelvinSteps

extension ONNXParts {
  /// A loop that is walked, and before it the graph of what it reads that is known.
  ///
  /// - Parameters:
  ///   - known: the nodes that make what is known of what the loop and its body read.
  ///   - computed: what they read of other parts.
  func loop(
    _ name: String, _ node: ONNXNode, _ known: [ONNXNode], _ computed: [String]
  ) throws(FormatError) -> [FunctionPart] {
    guard var body = try node.loopBody() else { return [] }
    let missing = try ONNXGraphSource.missing(in: body.nodes)
    guard missing.list.isEmpty else { throw .missing(missing.list, file: file) }
    let read = node.inputs.filter { !$0.isEmpty }.withoutRepetition
    let made = read.filter { !computed.contains($0) }
    var parts: [FunctionPart] = []
    if !made.isEmpty {
      let used = Set(known.flatMap(\.inputs))
      parts.append(.graph(graph("\(name).start", known, computed.filter(used.contains), made)))
    }

    // What every trip is told: that it is made.
    let truth = body.inputs[1].name
    var one = ONNXNode(kind: "Constant", inputs: [], outputs: ["\(truth)#one"], at: node)
    one.attributes["value_int"] = ONNXAttribute(integer: 1)
    var isMade = ONNXNode(kind: "Cast", inputs: ["\(truth)#one"], outputs: [truth], at: node)
    isMade.attributes["to"] = ONNXAttribute(integer: ONNXSchema.TensorProto.DataType.bool)
    body.nodes = [one, isMade] + body.nodes

    let inside = try inside(body, known)
    let results = body.outputs.map(\.name)
    let given = [body.inputs[0].name] + body.inputs.dropFirst(2).map(\.name)
    let trips = try inside.graphs(name, known + body.nodes, computed + given, results.withoutRepetition)
    let carriedCount = node.inputs.count - 2
    func result(_ index: Int) -> String? {
      index < node.outputs.count && !node.outputs[index].isEmpty ? node.outputs[index] : nil
    }
    let carried = (0..<carriedCount).flatMap { index -> [LoopPart.Carried] in
      let names = [node.inputs[index + 2], body.inputs[index + 2].name, results[index + 1]]
      let slots = inside.model.listNames.contains(names[1]) ? names.map(ONNXParts.listSlots) : names.map { [$0] }
      let ends = result(index).map { slots[1].count > 1 ? ONNXParts.listSlots($0) : [$0] }
      return slots[0].indices.map {
        LoopPart.Carried(start: slots[0][$0], given: slots[1][$0], left: slots[2][$0], result: ends?[$0])
      }
    }
    let rows = body.outputs.dropFirst(1 + carriedCount).enumerated().compactMap { index, info in
      result(carriedCount + index).map { LoopPart.Rows(row: info.name, result: $0, rowType: info.rowType) }
    }
    let operands = node.inputs.map { $0.isEmpty ? nil : $0 }
    let loop = LoopPart(
      name: node.name, limit: operands[0], condition: operands[1], trip: body.inputs[0].name,
      tripShape: body.inputs[0].sizes?.count == 1 ? [1] : [], goesOn: results[0], carried: carried, rows: rows,
      captured: slots(of: computed), body: trips)
    return parts + [.loop(loop)]
  }

  /// The parts of a loop's body, which reads values of the graph around it.
  private func inside(_ body: ONNXGraph, _ known: [ONNXNode]) throws(FormatError) -> ONNXParts {
    var model = model
    let own = Set(body.inputs.map(\.name)).union(body.nodes.flatMap(\.outputs))
    model.graph.initializers = model.graph.initializers.filter { !own.contains($0.key) }
      .merging(body.initializers) { _, inner in inner }
    model.graph.sparse += body.sparse
    model.graph.outputs = body.outputs
    let outer = model.narrowTypes
    model.narrowTypes = outer.filter { !own.contains($0.key) }
      .merging(try body.narrowTypes(around: { outer[$0] })) { _, inner in inner }
    model.listNames = model.listNames.subtracting(own).union(try body.listNames())
    return ONNXParts(model, features, file: file, files: files)
  }

  private static func listSlots(_ name: String) -> [String] {
    let slots = SequenceLayout.slots(of: name)
    return [slots.elements, slots.layout]
  }
}

extension ONNXValueInfo {
  /// What there is of it where no trip has made one: nothing, of the sizes that the file gives.
  fileprivate var rowType: TensorType {
    let scalar = elementType.flatMap(ScalarType.init(onnx:)) ?? narrowType?.scalar ?? .float32
    return TensorType(scalar, Shape((sizes ?? []).map { max($0.value ?? 0, 0) }))
  }
}
