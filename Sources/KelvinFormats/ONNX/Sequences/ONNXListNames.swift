#if ONNX
extension ONNXNode {
  private static let making: Set<String> = [
    "Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceMap", "SplitToSequence",
  ]

  /// Which of the outputs are sequences of tensors, or values that may be left out.
  ///
  /// - Parameter isList: of a value that it reads.
  func listOutputs(_ isList: (String) -> Bool) throws(FormatError) -> [String] {
    switch qualifiedKind {
    case let kind where Self.making.contains(kind): return outputs
    case "Identity", "OptionalGetElement": return inputs.first.map(isList) == true ? outputs : []
    case ONNXControl.branch.name: return try declaredLists("then_branch", skipping: 0)
    case ONNXControl.loop.name: return try declaredLists("body", skipping: 1)
    default: return []
    }
  }

  /// Whether a sub-graph says that it has such an output.
  func givesLists(_ attribute: String) -> Bool { (try? declaredLists(attribute, skipping: 0))?.isEmpty == false }

  private func declaredLists(_ attribute: String, skipping count: Int) throws(FormatError) -> [String] {
    let declared = try attributes[attribute]?.subgraphs().first?.outputs.dropFirst(count) ?? []
    return zip(outputs, declared).filter { $1.isList }.map(\.0)
  }
}

extension ONNXValueInfo {
  /// Whether it is a sequence of tensors, or may be left out.
  var isList: Bool {
    switch kind {
    case .tensors: true
    case .tensor: isOptional && elementType != ONNXSchema.TensorProto.DataType.string
    case .map, .maps, .other: false
    }
  }
}

extension ONNXGraph {
  /// The values of the graph itself that are sequences of tensors or may be left out.
  func listNames() throws(FormatError) -> Set<String> {
    var names = Set((inputs + outputs).filter(\.isList).map(\.name))
    for node in nodes { names.formUnion(try node.listOutputs(names.contains)) }
    return names
  }
}

extension ONNXGraph {
  /// Says of what loops carry that it is a sequence, where it begins as one and the file leaves that out.
  ///
  /// - Parameter outer: the sequences around the graph.
  mutating func declareLists(around outer: Set<String> = []) throws(FormatError) {
    var names = outer.union(try listNames())
    for index in nodes.indices {
      if nodes[index].qualifiedKind == ONNXControl.loop.name, var body = try ONNXWalkedLoop(nodes[index])?.body {
        for (place, name) in nodes[index].inputs.enumerated().dropFirst(2)
        where names.contains(name) && body.inputs[place].isUntyped {
          body.inputs[place].kind = .tensors
          body.outputs[place - 1].kind = .tensors
        }
        try body.declareLists(around: names)
        nodes[index].attributes["body"]?.rewritten = body
      }
      names.formUnion(try nodes[index].listOutputs(names.contains))
    }
  }
}

extension ONNXValueInfo {
  fileprivate var isUntyped: Bool { if case .other = kind { true } else { false } }
}
#endif
