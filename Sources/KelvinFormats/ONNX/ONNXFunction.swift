import KelvinGraph

/// A `FunctionProto`: an operator that the model itself defines by other operators.
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

  /// What a node that calls it has as its `functionKey`.
  var key: String { "\(domain).\(name):\(overload)" }
}

extension ONNXNode {
  fileprivate var functionKey: String { "\(domain).\(kind):\(overload)" }
}

/// Replaces calls of a model's functions by their nodes, under the name of the call.
struct ONNXInliner {
  private let functions: [String: ONNXFunction]
  private let file: String
  private var nodes: [ONNXNode] = []
  private var calls = 0
  /// What inlined nodes take: their operands and attributes, and the bytes of the names made for them.
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
    for node in nodes { try inliner.add(node, depth: 0) }
    return inliner.nodes
  }

  private init(functions: [String: ONNXFunction], file: String) {
    self.functions = functions
    self.file = file
  }

  private mutating func add(_ node: ONNXNode, depth: Int) throws(FormatError) {
    guard let function = functions[node.functionKey] else {
      guard nodes.count < WireMessage.operationLimit else {
        throw refusal(node, "its functions stand for more than \(WireMessage.operationLimit) operations")
      }
      return nodes.append(node)
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
    var names: [String: String] = [:]
    for (index, name) in function.inputs.enumerated() {
      names[name] = index < node.inputs.count ? node.inputs[index] : ""
    }
    // An output that is an input passes through an identity, which keeps both names.
    for (name, outer) in zip(function.outputs, node.outputs) where !outer.isEmpty {
      if let passed = names[name] {
        nodes.append(ONNXNode(kind: "Identity", inputs: [passed], outputs: [outer], at: node))
      } else {
        names[name] = outer
      }
    }
    for inner in function.nodes {
      guard inner.attributes.values.allSatisfy(\.graphs.isEmpty) else {
        throw FormatError(
          .unsupported, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset,
          "its function contains a nested graph, in \(inner.kind)")
      }
      operands += inner.inputs.count + inner.outputs.count + inner.attributes.count
      guard operands < Self.operandLimit else { throw refusal(node, "its functions stand for too many operands") }
      var copy = inner
      func outer(_ name: String) throws(FormatError) -> String {
        if name.isEmpty { return "" }
        if let known = names[name] { return known }
        let made = "\(node.name)/\(name)"
        nameBytes += made.utf8.count
        guard made.utf8.count <= WireMessage.nameLimit, nameBytes <= Self.nameByteLimit else {
          throw refusal(node, "its inner names are too long")
        }
        names[name] = made
        return made
      }
      copy.inputs = []
      copy.outputs = []
      for name in inner.inputs { copy.inputs.append(try outer(name)) }
      for name in inner.outputs { copy.outputs.append(try outer(name)) }
      let name = inner.givenName.isEmpty ? "" : "\(node.name)/\(inner.givenName)"
      copy.givenName = name.utf8.count <= WireMessage.nameLimit ? name : ""
      copy.index = node.index
      copy.attributes = [:]
      for (key, attribute) in inner.attributes {
        guard !attribute.reference.isEmpty else {
          copy.attributes[key] = attribute
          continue
        }
        copy.attributes[key] = node.attributes[attribute.reference] ?? function.defaults[attribute.reference]
      }
      try add(copy, depth: depth + 1)
    }
  }

  private func refusal(_ node: ONNXNode, _ reason: String) -> FormatError {
    FormatError(.malformed, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset, reason)
  }
}
