import KelvinImport

extension ONNXNode {
  private static let making: Set<String> = [
    "Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceMap", "SplitToSequence",
  ]

  /// Which of the outputs are sequences of tensors, or values that may be left out.
  ///
  /// - Parameter lists: of the values that it reads.
  fileprivate func listOutputs(_ lists: ListNames) throws(FormatError) -> [String] {
    let input = inputs.first ?? ""
    switch qualifiedKind {
    case let kind where Self.making.contains(kind): return outputs
    case "Identity": return lists.all.contains(input) ? outputs : []
    case "OptionalGetElement": return lists.all.contains(input) && !lists.ofTensors.contains(input) ? outputs : []
    case ONNXControl.branch.name: return try declaredLists("then_branch", skipping: 0)
    case ONNXControl.loop.name: return try declaredLists("body", skipping: 1)
    default: return []
    }
  }

  /// Which of the outputs are tensors that may be left out.
  fileprivate func optionalTensors(_ lists: ListNames) throws(FormatError) -> [String] {
    let input = inputs.first ?? ""
    switch qualifiedKind {
    case "Optional": return input.isEmpty || lists.all.contains(input) ? [] : outputs
    case "Identity": return lists.ofTensors.contains(input) ? outputs : []
    case ONNXControl.branch.name: return try declaredLists("then_branch", skipping: 0, \.isOptionalTensor)
    case ONNXControl.loop.name: return try declaredLists("body", skipping: 1, \.isOptionalTensor)
    default: return []
    }
  }

  /// Whether a sub-graph says that it has such an output.
  func givesLists(_ attribute: String) -> Bool { (try? declaredLists(attribute, skipping: 0))?.isEmpty == false }

  private func declaredLists(
    _ attribute: String, skipping count: Int, _ isOne: (ONNXValueInfo) -> Bool = \.isList
  ) throws(FormatError) -> [String] {
    let declared = try attributes[attribute]?.subgraphs().first?.outputs.dropFirst(count) ?? []
    return zip(outputs, declared).filter { isOne($1) }.map(\.0)
  }
}

extension ONNXValueInfo {
  /// Whether it is a sequence of tensors, or may be left out.
  var isList: Bool {
    switch kind {
    case .tensors: true
    case .tensor: isOptionalTensor
    case .map, .maps, .other: false
    }
  }

  /// Whether it is a tensor of numbers that may be left out.
  fileprivate var isOptionalTensor: Bool {
    guard case .tensor = kind else { return false }
    return isOptional && elementType != ONNXSchema.TensorProto.DataType.string
  }
}

/// Values that are sequences of tensors or may be left out.
private struct ListNames {
  var all: Set<String> = []
  /// Those of them that are a tensor where they are not left out.
  var ofTensors: Set<String> = []

  /// Adds a node's outputs.
  mutating func add(_ node: ONNXNode) throws(FormatError) {
    let tensors = try node.optionalTensors(self)
    all.formUnion(try node.listOutputs(self))
    ofTensors.formUnion(tensors)
  }
}

extension ONNXGraph {
  /// The values of the graph itself that are sequences of tensors or may be left out.
  func listNames() throws(FormatError) -> Set<String> {
    try lists().all
  }

  private func lists(around outer: ListNames = ListNames()) throws(FormatError) -> ListNames {
    var lists = outer
    lists.all.formUnion((inputs + outputs).filter(\.isList).map(\.name))
    lists.ofTensors.formUnion((inputs + outputs).filter(\.isOptionalTensor).map(\.name))
    for node in nodes { try lists.add(node) }
    return lists
  }
}

extension ONNXGraph {
  /// Says of what loops carry that it is a sequence, where it begins as one and the file leaves that out.
  mutating func declareLists() throws(FormatError) { try declareLists(around: ListNames()) }

  /// - Parameter outer: the sequences around the graph.
  private mutating func declareLists(around outer: ListNames) throws(FormatError) {
    var lists = try lists(around: outer)
    for index in nodes.indices {
      if nodes[index].qualifiedKind == ONNXControl.loop.name, var body = try ONNXHostLoop(nodes[index])?.body {
        for (place, name) in nodes[index].inputs.enumerated().dropFirst(2)
        where lists.all.contains(name) && body.inputs[place].isUntyped {
          body.inputs[place].kind = .tensors
          body.outputs[place - 1].kind = .tensors
        }
        try body.declareLists(around: lists)
        nodes[index].attributes["body"]?.rewritten = body
      }
      try lists.add(nodes[index])
    }
  }
}

extension ONNXValueInfo {
  fileprivate var isUntyped: Bool { if case .other = kind { true } else { false } }
}
