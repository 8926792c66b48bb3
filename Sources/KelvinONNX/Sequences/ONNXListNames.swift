import KelvinImport

extension ONNXNode {
  private static let making: Set<String> = [
    "Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceMap",
    "SplitToSequence",
  ]

  /// Returns the outputs that are sequences of tensors, or optional values.
  ///
  /// - Parameter lists: The inputs that are such values.
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

  /// Returns the outputs that are optional tensors.
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

  /// Whether a sub-graph declares an output that is a sequence or optional.
  func givesLists(_ attribute: String) -> Bool { (try? declaredLists(attribute, skipping: 0))?.isEmpty == false }

  private func declaredLists(
    _ attribute: String, skipping count: Int, _ isOne: (ONNXValueInfo) -> Bool = \.isList
  ) throws(FormatError) -> [String] {
    let declared = try attributes[attribute]?.subgraphs().first?.outputs.dropFirst(count) ?? []
    return zip(outputs, declared).filter { isOne($1) }.map(\.0)
  }
}

extension ONNXValueInfo {
  /// Whether the value is a sequence of tensors, or optional.
  var isList: Bool {
    switch kind {
    case .tensors: true
    case .tensor: isOptionalTensor
    case .map, .maps, .other: false
    }
  }

  /// Whether the value is an optional tensor of numbers.
  fileprivate var isOptionalTensor: Bool {
    guard case .tensor = kind else { return false }
    return isOptional && elementType != ONNXSchema.TensorProto.DataType.string
  }
}

/// The names of values that are sequences of tensors or optional.
private struct ListNames {
  var all: Set<String> = []
  /// The names of those that are a tensor unless they are absent.
  var ofTensors: Set<String> = []

  /// Adds a node's outputs.
  mutating func add(_ node: ONNXNode) throws(FormatError) {
    let tensors = try node.optionalTensors(self)
    all.formUnion(try node.listOutputs(self))
    ofTensors.formUnion(tensors)
  }
}

extension ONNXGraph {
  /// Returns the graph's own values that are sequences of tensors or optional.
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
  /// Declares carried values of loops as sequences if their initial values are sequences and the file does not declare
  /// this.
  mutating func declareLists() throws(FormatError) { try declareLists(around: ListNames()) }

  /// Declares sequences in sub-graphs.
  ///
  /// - Parameter outer: The sequences around the graph.
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
