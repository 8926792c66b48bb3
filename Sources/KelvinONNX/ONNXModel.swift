import KelvinGraph
import KelvinImport

/// A `ModelProto` message.
struct ONNXModel {
  var operatorSets: [String: Int] = [:]
  var metadata: [String: String] = [:]
  var producer = ""
  var modelVersion = 0
  /// The version of the file format.
  var irVersion = 0
  var summary = ""
  var graph = ONNXGraph()
  /// The low-precision types of the graph's values, by name.
  var lowPrecisionTypes: [String: ONNXLowPrecisionType] = [:]
  /// The graph's values that are sequences of tensors or optional. Each has two slots.
  var listNames: Set<String> = []
  /// The separator in names that are derived from a name of the graph: a run of number signs longer than any in its
  /// names.
  var mark = "#"

  /// The version of the standard operator set.
  var opset: Int { operatorSets[""] ?? 1 }
  /// Whether the model uses or imports the standard operator set.
  var usesStandardOperators: Bool { operatorSets[""] != nil || graph.nodes.contains { $0.domain.isEmpty } }

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = ONNXSchema.ModelProto
    var graph: ONNXGraph?
    var functions: [ONNXFunction] = []
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.producerName: producer = try field.string()
      case Fields.irVersion: irVersion = try field.integer()
      case Fields.modelVersion: modelVersion = try field.integer()
      case Fields.docString: summary = try field.string()
      case Fields.graph: graph = try ONNXGraph(field.message())
      case Fields.opsetImport: try addOperatorSet(field.message())
      case Fields.functions:
        try field.check(functions.count, WireMessage.operandLimit)
        functions.append(try ONNXFunction(field.message()))
      case Fields.metadataProps:
        try field.check(metadata.count)
        let entry = try ONNXEntry(field.message())
        metadata[entry.key] = entry.value
      default: break
      }
    }
    guard let graph else {
      throw FormatError(
        .malformed, file: message.file, "it has no graph", remedy: "expected an ONNX model; the file may be cut short")
    }
    self.graph = graph
    self.graph.nodes = try ONNXInliner.inlined(graph.nodes, functions, file: message.file)
  }

  private mutating func addOperatorSet(_ message: WireMessage) throws(FormatError) {
    var (domain, version) = ("", 0)
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXSchema.OperatorSetIdProto.domain: domain = try field.name()
      case ONNXSchema.OperatorSetIdProto.version: version = try field.integer()
      default: break
      }
    }
    operatorSets[domain == "ai.onnx" ? "" : domain] = version
  }
}

/// A `StringStringEntryProto` message.
struct ONNXEntry {
  var key = ""
  var value = ""

  init(_ message: WireMessage) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXSchema.StringStringEntryProto.key: key = try field.name()
      case ONNXSchema.StringStringEntryProto.value: value = try field.string()
      default: break
      }
    }
  }
}

/// A `GraphProto` message. The elements of initializers stay in the file.
struct ONNXGraph {
  var nodes: [ONNXNode] = []
  var initializers: [String: ONNXTensor] = [:]
  var inputs: [ONNXValueInfo] = []
  var outputs: [ONNXValueInfo] = []
  var summary = ""

  init() {}

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = ONNXSchema.GraphProto
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.node:
        try field.check(nodes.count, WireMessage.operationLimit)
        nodes.append(try ONNXNode(field.message(), index: nodes.count))
      case Fields.initializer:
        try field.check(initializers.count)
        try add(try ONNXTensor(field.message()), at: field.offset)
      case Fields.input:
        try field.check(inputs.count)
        inputs.append(try ONNXValueInfo(field.message()))
      case Fields.output:
        try field.check(outputs.count, WireMessage.operandLimit)
        outputs.append(try ONNXValueInfo(field.message()))
      case Fields.sparseInitializer:
        try field.check(initializers.count)
        try add(try ONNXTensor(sparse: field.message()), at: field.offset)
      case Fields.docString: summary = try field.string()
      default: break
      }
    }
    nodes = try Self.ordered(nodes)
  }

  private mutating func add(_ tensor: ONNXTensor, at offset: Int) throws(FormatError) {
    guard initializers.updateValue(tensor, forKey: tensor.name) == nil else {
      throw FormatError(
        .malformed, file: tensor.message.file, place: "initialiser '\(tensor.name)'", offset: offset,
        "the name is used twice")
    }
  }
}

/// A `NodeProto` message.
struct ONNXNode {
  var inputs: [String] = []
  var outputs: [String] = []
  var givenName = ""
  var kind = ""
  var domain = ""
  var overload = ""
  var attributes: [String: ONNXAttribute] = [:]
  var index: Int
  let offset: Int
  /// Whether the node is control flow that the host must execute (`DynamicShapeControlFlow`).
  var mustRunOnHost = false

  /// The node's name, or its first output's.
  var name: String { givenName.isEmpty ? outputs.first { !$0.isEmpty } ?? "\(kind)_\(index)" : givenName }
  /// The operator's name, with its domain unless that is the standard one.
  var qualifiedKind: String { domain.isEmpty ? kind : "\(domain).\(kind)" }

  init(_ message: WireMessage, index: Int) throws(FormatError) {
    typealias Fields = ONNXSchema.NodeProto
    self.index = index
    offset = message.offset
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.input: try field.appendName(to: &inputs)
      case Fields.output: try field.appendName(to: &outputs)
      case Fields.name: givenName = try field.name()
      case Fields.opType: kind = try field.name()
      case Fields.domain: domain = try field.name()
      case Fields.overload: overload = try field.name()
      case Fields.attribute:
        try field.check(attributes.count, WireMessage.operandLimit)
        let attribute = try ONNXAttribute(field.message())
        attributes[attribute.name] = attribute
      default: break
      }
    }
    if domain == "ai.onnx" { domain = "" }
  }

  /// Creates a node of a standard operator at the location of another node.
  init(kind: String, inputs: [String], outputs: [String], at node: ONNXNode) {
    self.init(kind: kind, inputs: inputs, outputs: outputs, index: node.index, offset: node.offset)
  }

  init(kind: String, inputs: [String], outputs: [String], index: Int, offset: Int = 0) {
    self.kind = kind
    self.inputs = inputs
    self.outputs = outputs
    self.index = index
    self.offset = offset
  }
}

/// An `AttributeProto` message. The operator determines which of the values is used.
struct ONNXAttribute {
  var name = ""
  /// The attribute of the function's caller that provides the value; empty for an attribute with its own value.
  var reference = ""
  var float: Float?
  var integer: Int?
  var text: String?
  /// The bytes of `text`, which may be another file.
  var bytes: Bytes?
  var tensor: ONNXTensor?
  var sparseTensor: ONNXTensor?
  var floats: [Float] = []
  var integers: [Int] = []
  var strings: [String] = []
  var graphs: [WireMessage] = []
  /// A sub-graph that replaces the one in the file.
  var rewritten: ONNXGraph?

  /// Tree ensembles have several elements per node.
  private static let countLimit = 1 << 26

  init(integer: Int) { self.integer = integer }

  init(float: Float) { self.float = float }

  init(integers: [Int]) { self.integers = integers }

  init(floats: [Float]) { self.floats = floats }

  init(tensor: ONNXTensor) { self.tensor = tensor }

  var hasGraphs: Bool { rewritten != nil || !graphs.isEmpty }

  /// Reads and returns the sub-graphs.
  func subgraphs() throws(FormatError) -> [ONNXGraph] {
    if let rewritten { return [rewritten] }
    var read: [ONNXGraph] = []
    for message in graphs { read.append(try ONNXGraph(message)) }
    return read
  }

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = ONNXSchema.AttributeProto
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.name: name = try field.name()
      case Fields.refAttrName: reference = try field.name()
      case Fields.f: float = try field.float()
      case Fields.i: integer = try field.integer()
      case Fields.s:
        text = try field.string()
        bytes = try field.bytes()
      case Fields.t: tensor = try ONNXTensor(field.message())
      case Fields.sparseTensor: sparseTensor = try ONNXTensor(sparse: field.message())
      case Fields.g, Fields.graphs: try field.append(to: &graphs)
      case Fields.floats: try field.append(to: &floats, limit: Self.countLimit)
      case Fields.ints: try field.append(to: &integers, limit: Self.countLimit)
      case Fields.strings: try field.append(to: &strings, limit: Self.countLimit)
      default: break
      }
    }
  }
}

/// A `ValueInfoProto` message.
struct ONNXValueInfo {
  /// The kind of value; key types are numbers of `TensorProto.DataType`.
  enum Kind {
    case tensor
    case map(key: Int)
    /// A sequence of maps.
    case maps(key: Int)
    /// A sequence of tensors.
    case tensors
    case other
  }

  /// One size: known, named, or neither.
  struct Size {
    var value: Int?
    var name: String?
    /// Whether the file declares 0, which some exporters write for an unknown size.
    var isZero = false
  }

  var name = ""
  var summary = ""
  var kind = Kind.other
  /// Whether the value is optional.
  var isOptional = false
  /// Whether the file declares any type.
  var isTyped = false
  /// The element type of a tensor, or of a sequence of tensors; nil for other values.
  var elementType: Int?
  /// The sizes; nil if the rank is not known.
  var sizes: [Size]?
  let offset: Int

  /// Whether the file declares no type, or a tensor without an element type.
  var hasUnknownType: Bool { !isTyped || elementType == 0 }

  /// Whether the value is a tensor of numbers whose rank the file does not declare.
  var hasUnknownRank: Bool {
    if case .tensor = kind { elementType != ONNXSchema.TensorProto.DataType.string && sizes == nil } else { false }
  }

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = ONNXSchema.ValueInfoProto
    offset = message.offset
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.name: name = try field.name()
      case Fields.docString: summary = try field.string()
      case Fields.type:
        var type = try field.message()
        isTyped = type.bytes.count > 0
        if let optional = try type.message(ONNXSchema.TypeProto.optionalType)?
          .message(ONNXSchema.TypeProto.Optional.elemType)
        {
          isOptional = true
          type = optional
        }
        if let tensor = try type.message(ONNXSchema.TypeProto.tensorType) {
          kind = .tensor
          try readTensorType(tensor)
        } else if let key = try Self.key(of: type) {
          kind = .map(key: key)
        } else if let element = try type.message(ONNXSchema.TypeProto.sequenceType)?
          .message(ONNXSchema.TypeProto.Sequence.elemType)
        {
          if let key = try Self.key(of: element) { kind = .maps(key: key) }
          if let tensor = try element.message(ONNXSchema.TypeProto.tensorType) {
            kind = .tensors
            try readTensorType(tensor)
          }
        }
      default: break
      }
    }
  }

  /// Returns the key type of a map from keys to numbers, or nil for other types.
  private static func key(of type: WireMessage) throws(FormatError) -> Int? {
    guard let map = try type.message(ONNXSchema.TypeProto.mapType) else { return nil }
    var key = 0
    try map.each(ONNXSchema.TypeProto.Map.keyType) { (field) throws(FormatError) in key = try field.integer() }
    return key
  }

  private mutating func readTensorType(_ message: WireMessage) throws(FormatError) {
    typealias Fields = ONNXSchema.TypeProto.Tensor
    elementType = 0
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.elemType: elementType = try field.integer()
      case Fields.shape: sizes = try readShape(field.message())
      default: break
      }
    }
  }

  private func readShape(_ message: WireMessage) throws(FormatError) -> [Size] {
    typealias Fields = ONNXSchema.TensorShapeProto.Dimension
    var sizes: [Size] = []
    try message.each(ONNXSchema.TensorShapeProto.dim) { (field) throws(FormatError) in
      try field.check(sizes.count, Emitter.rankLimit)
      var size = Size()
      var dimension = try field.message().fields()
      while let part = try dimension.next() {
        switch part.number {
        case Fields.dimValue: size.value = try part.integer()
        case Fields.dimParam: size.name = try part.name()
        default: break
        }
      }
      if let value = size.value, value <= 0 { (size.value, size.isZero) = (nil, value == 0) }
      sizes.append(size)
    }
    return sizes
  }
}
