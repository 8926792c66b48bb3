import KelvinBasics
import KelvinGraph
import KelvinImport

/// The floating-point initializers of an ONNX model, and how its nodes use them.
struct ONNXWeights {
  /// The use of a weight.
  struct Use {
    /// Whether all uses are second factors of `MatMul` nodes of the main graph.
    var isProduct = true
    /// Whether the channels of a matrix are along its second axis.
    var isTransposed = false
  }

  let model: WireMessage
  /// The version of ONNX's own operators.
  private(set) var opset = 0
  private(set) var tensors: [StoredTensor] = []
  /// By position among the initializers, which is the record of a tensor.
  private(set) var uses: [Int: Use] = [:]
  let files: ModelFiles
  /// The largest copy: the limit of a protocol buffer.
  static let byteLimit = (1 << 31) - 1
  /// The first operator set whose `DequantizeLinear` takes a scale for each channel.
  static let int8Opset = 13

  init(_ model: WireMessage, _ files: ModelFiles) throws(FormatError) {
    (self.model, self.files) = (model, files)
    for set in try model.messages(ONNXFields.Model.opsetImport)
    where try ["", "ai.onnx"].contains(set.last(ONNXFields.OperatorSet.domain)?.string() ?? "") {
      opset = try set.last(ONNXFields.OperatorSet.version)?.integer() ?? 0
    }
    guard let graph = try model.last(ONNXFields.Model.graph)?.message() else { return }
    var found: [ExactString: Use] = [:]
    try Self.collect(graph, isMain: true, &found)
    for (index, message) in try graph.messages(ONNXFields.Graph.initializer).enumerated() {
      guard let tensor = try tensor(message, index), tensor.shape.count > 1,
        tensor.count >= ModelCompressor.leastCount, let use = found[ExactString(tensor.name)]
      else { continue }
      uses[index] = Use(
        isProduct: use.isProduct && tensor.shape.count == 2, isTransposed: use.isTransposed && tensor.shape.count == 2)
      tensors.append(tensor)
    }
  }

  /// Collects the uses of values in a graph and in the graphs within its nodes.
  private static func collect(
    _ graph: WireMessage, isMain: Bool, _ found: inout [ExactString: Use]
  ) throws(FormatError) {
    for node in try graph.messages(ONNXFields.Graph.node) {
      let (kind, attributes) = (try node.last(ONNXFields.Node.type)?.string() ?? "", try Self.attributes(of: node))
      var inputs: [String] = []
      try node.each(ONNXFields.Node.input) { (field) throws(FormatError) in inputs.append(try field.name()) }
      for (index, name) in inputs.enumerated() {
        var use = found[ExactString(name)] ?? Use()
        use.isProduct = use.isProduct && kind == "MatMul" && index == 1 && isMain
        let isTransposed = index == 1 && (kind == "MatMul" || kind == "Gemm" && attributes.integers["transB"] ?? 0 == 0)
        use.isTransposed = use.isTransposed || isTransposed
        found[ExactString(name)] = use
      }
      for inner in attributes.graphs { try collect(inner, isMain: false, &found) }
    }
  }

  private static func attributes(
    of node: WireMessage
  ) throws(FormatError) -> (integers: [ExactString: Int], graphs: [WireMessage]) {
    var (integers, graphs): ([ExactString: Int], [WireMessage]) = ([:], [])
    for attribute in try node.messages(ONNXFields.Node.attribute) {
      let name = try attribute.last(ONNXFields.Attribute.name)?.string() ?? ""
      if let number = try attribute.last(ONNXFields.Attribute.integer)?.integer() {
        integers[ExactString(name)] = number
      }
      graphs += try attribute.messages(ONNXFields.Attribute.graph)
      graphs += try attribute.messages(ONNXFields.Attribute.graphs)
    }
    return (integers, graphs)
  }

  /// Returns an initializer of float16 or float32 numbers; nil for others.
  private func tensor(_ message: WireMessage, _ index: Int) throws(FormatError) -> StoredTensor? {
    let type: ElementType
    switch try message.last(ONNXFields.Tensor.dataType)?.integer() {
    case ONNXFields.float: type = .float32
    case ONNXFields.float16: type = .float16
    default: return nil
    }
    var shape: [Int] = []
    try message.each(ONNXFields.Tensor.dims) { (field) throws(FormatError) in try field.append(to: &shape) }
    guard Shape(shape).isAddressable, let elements = try elements(message) else { return nil }
    let name = try message.last(ONNXFields.Tensor.name)?.name() ?? ""
    guard elements.count == Shape(shape).count * type.byteCount else {
      throw FormatError(
        .malformed, file: message.file, place: "tensor '\(name)'", offset: message.offset,
        "\(Shape(shape).count) elements are expected, got \(elements.count / type.byteCount)")
    }
    return StoredTensor(name: name, type: type, shape: shape, record: index, elements: elements)
  }

  /// Returns the elements of a tensor that are stored as bytes, as float32 or in another file; nil for others.
  func elements(_ message: WireMessage) throws(FormatError) -> Bytes? {
    if let raw = try message.last(ONNXFields.Tensor.rawData) { return try raw.bytes() }
    let entries = try message.messages(ONNXFields.Tensor.externalData)
    guard entries.isEmpty else { return try external(entries, message) }
    var numbers: [Float] = []
    try message.each(ONNXFields.Tensor.floatData) { (field) throws(FormatError) in
      try field.append(to: &numbers, limit: Int.max)
    }
    return numbers.isEmpty ? nil : numbers.withUnsafeBytes { Bytes(copying: $0) }
  }

  private func external(_ entries: [WireMessage], _ message: WireMessage) throws(FormatError) -> Bytes {
    var (location, offset, length) = ("", 0, Int?.none)
    for entry in entries {
      let value = try entry.last(ONNXFields.Entry.value)?.string() ?? ""
      switch try entry.last(ONNXFields.Entry.key)?.string() {
      case "location": location = value
      case "offset": offset = Int(value) ?? -1
      case "length": length = Int(value) ?? -1
      default: break
      }
    }
    let file = try files.bytes(location, model: message.file)
    guard offset >= 0, offset <= file.count,
      let bytes = file.slice(offset: offset, count: length ?? file.count - offset)
    else {
      throw FormatError(
        .malformed, file: location, offset: offset, "a tensor extends beyond the file's \(file.count) bytes",
        remedy: "the file is cut short or belongs to another model")
    }
    return bytes
  }
}
