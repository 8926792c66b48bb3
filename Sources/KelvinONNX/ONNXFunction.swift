import KelvinGraph
import KelvinImport

/// A `FunctionProto` message: an operator that the model itself defines by other operators.
struct ONNXFunction {
  var name = ""
  var domain = ""
  var overload = ""
  var inputs: [String] = []
  var outputs: [String] = []
  var nodes: [ONNXNode] = []
  /// Attributes with their default values.
  var defaults: [String: ONNXAttribute] = [:]

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = ONNXSchema.FunctionProto
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.name: name = try field.name()
      case Fields.domain: domain = try field.name()
      case Fields.overload: overload = try field.name()
      case Fields.input: try field.appendName(to: &inputs)
      case Fields.output: try field.appendName(to: &outputs)
      case Fields.node:
        try field.check(nodes.count, WireMessage.operationLimit)
        nodes.append(try ONNXNode(field.message(), index: nodes.count))
      case Fields.attributeProto:
        try field.check(defaults.count, WireMessage.operandLimit)
        let attribute = try ONNXAttribute(field.message())
        defaults[attribute.name] = attribute
      default: break
      }
    }
    if domain == "ai.onnx" { domain = "" }
  }

  /// The `functionKey` of nodes that call the function.
  var key: String { "\(domain).\(name):\(overload)" }
}

extension ONNXNode {
  fileprivate var functionKey: String { "\(domain).\(kind):\(overload)" }
}

/// Replaces calls of a model's functions by the functions' nodes, prefixed with the name of the call, also in
/// sub-graphs.
struct ONNXInliner {
  /// The node of a call, and the outer names for the function's names.
  private struct Call {
    let node: ONNXNode
    let function: ONNXFunction
    var names: [String: String] = [:]
  }

  private let functions: [String: ONNXFunction]
  private let file: String
  private var count = 0
  private var calls = 0
  /// The number of operands and attributes of inlined nodes, and the bytes of the names created for them.
  private var operands = 0
  private var nameBytes = 0
  private static let depthLimit = 32
  private static let operandLimit = 1 << 20
  private static let nameByteLimit = 1 << 26

  static func inlined(
    _ nodes: [ONNXNode], _ functions: [ONNXFunction], file: String
  ) throws(FormatError) -> [ONNXNode] {
    if functions.isEmpty { return nodes }
    var inliner = ONNXInliner(
      functions: Dictionary(functions.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first }), file: file)
    return try inliner.inlined(nodes, depth: 0)
  }

  private init(functions: [String: ONNXFunction], file: String) {
    self.functions = functions
    self.file = file
  }

  private mutating func inlined(_ nodes: [ONNXNode], depth: Int) throws(FormatError) -> [ONNXNode] {
    var inlined: [ONNXNode] = []
    for node in nodes { try add(node, to: &inlined, depth: depth) }
    return inlined
  }

  private mutating func add(_ node: ONNXNode, to nodes: inout [ONNXNode], depth: Int) throws(FormatError) {
    guard let function = functions[node.functionKey] else {
      count += 1
      guard count <= WireMessage.operationLimit else {
        throw refusal(node, "its functions expand to more than \(WireMessage.operationLimit) operations")
      }
      var copy = node
      for (key, attribute) in node.attributes where attribute.hasGraphs {
        guard depth < Self.depthLimit else { throw refusal(node, "its sub-graphs are nested too deeply") }
        guard var graph = try attribute.subgraphs().first else { continue }
        graph.nodes = try inlined(graph.nodes, depth: depth + 1)
        copy.attributes[key]?.rewritten = graph
      }
      return nodes.append(copy)
    }
    calls += 1
    operands += function.inputs.count + function.outputs.count
    guard depth < Self.depthLimit, calls < WireMessage.operationLimit else {
      throw refusal(node, "its functions call each other too deeply or too often")
    }
    guard node.inputs.count <= function.inputs.count, node.outputs.count <= function.outputs.count else {
      throw refusal(
        node,
        "\(node.inputs.count) inputs and \(node.outputs.count) outputs for a function of \(function.inputs.count) and "
          + "\(function.outputs.count)")
    }
    var call = Call(node: node, function: function)
    for (index, name) in function.inputs.enumerated() {
      call.names[name] = index < node.inputs.count ? node.inputs[index] : ""
    }
    // An output that is also an input passes through an identity, which keeps both names.
    for (name, outer) in zip(function.outputs, node.outputs) where !outer.isEmpty {
      if let passed = call.names[name] {
        nodes.append(ONNXNode(kind: "Identity", inputs: [passed], outputs: [outer], at: node))
      } else {
        call.names[name] = outer
      }
    }
    for inner in function.nodes {
      try add(try copy(inner, &call, depth: depth), to: &nodes, depth: depth + 1)
    }
  }

  /// Returns a node of a function as an instance for a call.
  private mutating func copy(_ inner: ONNXNode, _ call: inout Call, depth: Int) throws(FormatError) -> ONNXNode {
    let node = call.node
    operands += inner.inputs.count + inner.outputs.count + inner.attributes.count
    guard operands < Self.operandLimit else { throw refusal(node, "its functions expand to too many operands") }
    var copy = inner
    copy.inputs = try outer(inner.inputs, &call)
    copy.outputs = try outer(inner.outputs, &call)
    let name = inner.givenName.isEmpty ? "" : "\(node.name)/\(inner.givenName)"
    copy.givenName = name.utf8.count <= WireMessage.nameLimit ? name : ""
    copy.index = node.index
    copy.attributes = [:]
    for (key, attribute) in inner.attributes {
      guard attribute.reference.isEmpty else {
        copy.attributes[key] = node.attributes[attribute.reference] ?? call.function.defaults[attribute.reference]
        continue
      }
      copy.attributes[key] = attribute
      guard attribute.hasGraphs, let graph = try attribute.subgraphs().first else { continue }
      guard depth < Self.depthLimit else { throw refusal(node, "its sub-graphs are nested too deeply") }
      copy.attributes[key]?.rewritten = try self.copy(graph, &call, depth: depth + 1)
    }
    return copy
  }

  private mutating func copy(_ graph: ONNXGraph, _ call: inout Call, depth: Int) throws(FormatError) -> ONNXGraph {
    operands += graph.inputs.count + graph.outputs.count + graph.initializers.count
    var copy = graph
    for (index, name) in try outer(graph.inputs.map(\.name), &call).enumerated() { copy.inputs[index].name = name }
    copy.initializers = [:]
    for (name, tensor) in graph.initializers { copy.initializers[try outer([name], &call)[0]] = tensor }
    copy.nodes = []
    for node in graph.nodes { copy.nodes.append(try self.copy(node, &call, depth: depth)) }
    for (index, name) in try outer(graph.outputs.map(\.name), &call).enumerated() { copy.outputs[index].name = name }
    return copy
  }

  /// Returns the outer names for a function's names; an internal name gets a unique one for the call.
  private mutating func outer(_ names: [String], _ call: inout Call) throws(FormatError) -> [String] {
    var outer: [String] = []
    for name in names {
      if let known = name.isEmpty ? "" : call.names[name] {
        outer.append(known)
        continue
      }
      let made = "\(call.node.name)/\(name)"
      nameBytes += made.utf8.count
      guard made.utf8.count <= WireMessage.nameLimit, nameBytes <= Self.nameByteLimit else {
        throw refusal(call.node, "its inner names are too long")
      }
      call.names[name] = made
      outer.append(made)
    }
    return outer
  }

  private func refusal(_ node: ONNXNode, _ reason: String) -> FormatError {
    FormatError(.malformed, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset, reason)
  }
}
