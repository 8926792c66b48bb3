import KelvinImport

extension ONNXGraph {
  /// Rewrites each `SequenceMap` whose body has data-dependent sizes, or control flow that the host executes, as the
  /// equivalent loop, which the host may execute. Elements that become such sizes cannot be emitted into one graph.
  /// Operators in sub-graphs stay.
  mutating func decomposeSequenceMaps() throws(FormatError) {
    guard nodes.contains(where: { $0.qualifiedKind == ONNXControl.sequenceMap.name }) else { return }
    let lists = try listNames()
    var spelled: [ONNXNode] = []
    for node in nodes {
      if let body = try node.bodyWithDataDependentShape() {
        spelled += node.loop(over: body, lists)
      } else {
        spelled.append(node)
      }
    }
    nodes = spelled
  }
}

extension ONNXNode {
  /// Returns the body of a `SequenceMap` that the host must execute; nil for other nodes, and for an invalid body,
  /// which graph building refuses.
  fileprivate func bodyWithDataDependentShape() throws(FormatError) -> ONNXGraph? {
    guard qualifiedKind == ONNXControl.sequenceMap.name, let body = try attributes["body"]?.subgraphs().first,
      body.inputs.count == inputs.count, !inputs.isEmpty, body.outputs.count == outputs.count
    else { return nil }
    return try body.findsSizes() ? body : nil
  }

  /// Returns the equivalent loop.
  ///
  /// - Parameters:
  ///   - body: The node's body.
  ///   - lists: The names of sequences.
  fileprivate func loop(over body: ONNXGraph, _ lists: Set<String>) -> [ONNXNode] {
    func own(_ step: String) -> String { "\(name)/\(step)" }
    func step(_ kind: String, _ inputs: [String], _ output: String) -> ONNXNode {
      ONNXNode(kind: kind, inputs: inputs, outputs: [output], at: self)
    }
    func info(_ name: String, like other: ONNXValueInfo) -> ONNXValueInfo {
      var info = other
      (info.name, info.kind) = (name, .tensors)
      return info
    }
    func scalar(_ name: String, _ type: Int) -> ONNXValueInfo {
      var info = body.inputs[0]
      (info.name, info.kind, info.elementType, info.sizes) = (name, .tensor, type, [])
      return info
    }
    typealias Types = ONNXSchema.TensorProto.DataType
    var trip = body
    trip.inputs = [scalar(own("trip"), Types.int64), scalar(own("is_made"), Types.bool)]
    trip.outputs = [scalar(own("goes_on"), Types.bool)]
    trip.nodes = zip(inputs, body.inputs).map { name, info in
      lists.contains(name)
        ? step("SequenceAt", [name, own("trip")], info.name) : step("Identity", [name], info.name)
    }
    trip.nodes += body.nodes + [step("Identity", [own("is_made")], own("goes_on"))]
    var steps = [step("SequenceLength", [inputs[0]], own("length"))]
    for (index, made) in body.outputs.enumerated() {
      var none = step("SequenceEmpty", [], own("none\(index)"))
      none.attributes["dtype"] = ONNXAttribute(integer: made.elementType ?? Types.float)
      steps.append(none)
      trip.inputs.append(info(own("before\(index)"), like: made))
      trip.outputs.append(info(own("after\(index)"), like: made))
      trip.nodes.append(step("SequenceInsert", [own("before\(index)"), made.name], own("after\(index)")))
    }
    var loop = ONNXNode(
      kind: ONNXControl.loop.name, inputs: [own("length"), ""] + body.outputs.indices.map { own("none\($0)") },
      outputs: outputs, at: self)
    loop.givenName = name
    var attribute = ONNXAttribute(integers: [])
    attribute.rewritten = trip
    loop.attributes["body"] = attribute
    return steps + [loop]
  }
}

extension ONNXGraph {
  private static let depthLimit = 16

  fileprivate func findsSizes(depth: Int = 0) throws(FormatError) -> Bool {
    for node in nodes {
      if node.mustRunOnHost || ONNXMapper.byName[node.qualifiedKind]?.hasDataDependentShape == true { return true }
      guard depth < Self.depthLimit else { continue }
      for attribute in node.attributes.values {
        for inner in try attribute.subgraphs() where try inner.findsSizes(depth: depth + 1) { return true }
      }
    }
    return false
  }
}
