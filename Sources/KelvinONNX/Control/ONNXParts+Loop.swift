import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXParts {
  /// Returns the parts of a loop that the host executes, preceded by a graph that computes its known inputs.
  ///
  /// - Parameters:
  ///   - known: The nodes that compute those inputs of the loop and its body that are known while graphs are built.
  ///   - computed: Their inputs that other parts compute.
  func parts(
    of loop: ONNXHostLoop, _ name: String, _ known: [ONNXNode], _ computed: [String]
  ) throws(FormatError) -> [FunctionPart] {
    var body = loop.body
    let missing = try ONNXGraphSource.missing(in: body.nodes)
    guard missing.list.isEmpty else { throw .missing(missing.list, file: file) }
    if let truth = loop.truth { body.nodes = telling(truth, loop.node) + body.nodes }
    let inside = inside(body, try body.lowPrecisionTypes(around: lowPrecisionType), try body.listNames())
    let given = loop.given + loop.carried.map(\.given)
    let trips = try inside.graphs(
      name, known + body.nodes, computed + given, body.outputs.map(\.name).withoutRepetition)
    let carried = loop.carried.flatMap { carried -> [LoopPart.Carried] in
      let names = [carried.start, carried.given, carried.left]
      let slots = inside.model.listNames.contains(carried.given) ? names.map(slotsOfList) : names.map { [$0] }
      let ends = carried.result.map { slots[1].count > 1 ? slotsOfList($0) : [$0] }
      return slots[0].indices.map {
        LoopPart.Carried(start: slots[0][$0], given: slots[1][$0], left: slots[2][$0], result: ends?[$0])
      }
    }
    return try start(of: loop.node, name, known, computed) + [
      .loop(
        LoopPart(
          name: loop.node.name, limit: loop.limit, condition: loop.condition, trip: loop.trip?.name,
          tripShape: loop.trip?.sizes?.count == 1 ? [1] : [], goesOn: loop.goesOn, carried: carried,
          scanned: loop.scanned, rows: loop.rows, captured: slots(of: computed), body: trips))
    ]
  }

  /// Returns nodes that set the body's condition input to true.
  private func telling(_ truth: String, _ node: ONNXNode) -> [ONNXNode] {
    let name = "\(truth)\(model.mark)one"
    var one = ONNXNode(kind: "Constant", inputs: [], outputs: [name], at: node)
    one.attributes["value_int"] = ONNXAttribute(integer: 1)
    var isMade = ONNXNode(kind: "Cast", inputs: [name], outputs: [truth], at: node)
    isMade.attributes["to"] = ONNXAttribute(integer: ONNXSchema.TensorProto.DataType.bool)
    return [one, isMade]
  }

  private func slotsOfList(_ name: String) -> [String] {
    let slots = model.listSlots(name)
    return [slots.elements, slots.layout]
  }
}
