import KelvinBasics
import KelvinGraph
import KelvinImport

/// Reads the tensors of an ONNX model: initializers, constants in attributes, and external data.
///
/// Reference: onnx.proto of onnx 1.23.
struct ONNXTensors {
  /// Constants in attributes with fewer bytes belong to the model's structure.
  static let leastAttributeCount = 1024

  private let file: ExactString
  private(set) var list = ShippedTensors()
  /// The bits of integers that operators unpack, by the name of the initializer.
  private var packed: [ExactString: Int] = [:]
  /// The sizes of the model's files, by name.
  private let sizes: [ExactString: Int]

  /// - Parameters:
  ///   - model: A `ModelProto` message.
  ///   - file: The name of the model's file.
  ///   - files: The files of the model.
  init(_ model: WireMessage, file: String, files: [ShippedFile]) throws(FormatError) {
    self.file = ExactString(file)
    sizes = Dictionary(files.map { (ExactString($0.name), $0.byteCount) }) { first, _ in first }
    try model.each(ONNXFields.Model.graph) { (field) throws(FormatError) in try read(graph: field.message()) }
    try model.each(ONNXFields.Model.functions) { (field) throws(FormatError) in
      try field.message().each(ONNXFields.Function.node) { (node) throws(FormatError) in try read(node: node.message())
      }
    }
  }

  private mutating func read(graph: WireMessage) throws(FormatError) {
    // Nodes first: they tell how initializers are packed.
    try graph.each(ONNXFields.Graph.node) { (field) throws(FormatError) in try read(node: field.message()) }
    try graph.each(ONNXFields.Graph.initializer) { (field) throws(FormatError) in
      let tensor = try field.message()
      try add(tensor, try tensor.last(ONNXFields.Tensor.name)?.string() ?? "", least: 1)
    }
    try graph.each(ONNXFields.Graph.sparseInitializer) { (field) throws(FormatError) in
      try add(sparse: field.message(), "")
    }
  }

  private mutating func read(node: WireMessage) throws(FormatError) {
    var (kind, output, bits): (String, String, Int?) = ("", "", nil)
    var inputs: [String] = []
    var attributes: [WireMessage] = []
    var reader = node.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXFields.Node.input: inputs.append(try field.string())
      case ONNXFields.Node.output: if output.isEmpty { output = try field.string() }
      case ONNXFields.Node.type: kind = try field.string()
      case ONNXFields.Node.attribute: attributes.append(try field.message())
      default: break
      }
    }
    for attribute in attributes {
      let key = try attribute.last(ONNXFields.Attribute.name)?.string() ?? ""
      if key == "bits" { bits = try attribute.last(ONNXFields.Attribute.integer)?.integer() }
      let name = kind == "Constant" ? output : "\(output).\(key)"
      var reader = attribute.fields()
      while let field = try reader.next() {
        switch field.number {
        case ONNXFields.Attribute.tensor, ONNXFields.Attribute.tensors:
          try add(field.message(), name, least: Self.leastAttributeCount)
        case ONNXFields.Attribute.sparseTensor: try add(sparse: field.message(), name)
        case ONNXFields.Attribute.graph, ONNXFields.Attribute.graphs: try read(graph: field.message())
        default: break
        }
      }
    }
    // ONNX Runtime's operators for weights of fewer bits take them in bytes.
    if let place = ["MatMulNBits": 1, "GatherBlockQuantized": 0][kind], inputs.count > place {
      packed[ExactString(inputs[place])] = bits ?? 4
    }
  }

  private mutating func add(sparse message: WireMessage, _ name: String) throws(FormatError) {
    guard let values = try message.last(ONNXFields.SparseTensor.values)?.message() else { return }
    let own = try values.last(ONNXFields.Tensor.name)?.string() ?? ""
    var shape: [Int] = []
    try message.each(ONNXFields.SparseTensor.dims) { (field) throws(FormatError) in try field.append(to: &shape) }
    var parts = try parts(of: values)
    if let indices = try message.last(ONNXFields.SparseTensor.indices)?.message() {
      parts += try self.parts(of: indices)
    }
    list.add(own.isEmpty ? name : own, shape, .sparse(.elements(try Self.type(of: values))), parts)
  }

  private mutating func add(_ tensor: WireMessage, _ name: String, least: Int) throws(FormatError) {
    let parts = try parts(of: tensor)
    guard parts.reduce(0, { $0 + $1.byteCount }) >= least else { return }
    var shape: [Int] = []
    try tensor.each(ONNXFields.Tensor.dims) { (field) throws(FormatError) in try field.append(to: &shape) }
    let type = try Self.type(of: tensor)
    list.add(name, shape, .elements(packed[ExactString(name)].map { "uint\($0)" } ?? type), parts)
  }

  private static func type(of tensor: WireMessage) throws(FormatError) -> String {
    let number = try tensor.last(ONNXFields.Tensor.dataType)?.integer() ?? 0
    return elementTypes[number] ?? "type \(number)"
  }

  /// Returns the bytes of the elements: in one of the lists of the message, or in another file.
  private func parts(of tensor: WireMessage) throws(FormatError) -> [ShippedTensor.Part] {
    var count = 0
    var (location, offset, length): (String?, Int, Int?) = (nil, 0, nil)
    var reader = tensor.fields()
    while let field = try reader.next() {
      switch field.number {
      case let number where ONNXFields.Tensor.elements.contains(number):
        switch field.value {
        case .bytes(let bytes): count += bytes.count
        case .fixed32: count += 4
        case .fixed64: count += 8
        case .varint(let value): count += max(1, (value.bitWidth - value.leadingZeroBitCount + 6) / 7)
        }
      case ONNXFields.Tensor.externalData:
        let entry = try field.message()
        let value = try entry.last(ONNXFields.Entry.value)?.string() ?? ""
        switch try entry.last(ONNXFields.Entry.key)?.string() {
        case "location": location = value
        case "offset": offset = max(0, Int(value) ?? 0)
        case "length": length = Int(value)
        default: break
        }
      default: break
      }
    }
    guard let location else { return [.init(file: file, offset: tensor.offset, byteCount: count)] }
    let name = ExactString(location)
    let rest = max(0, (sizes[name] ?? 0) - offset)
    return [.init(file: name, offset: offset, byteCount: min(length ?? rest, rest))]
  }

  /// The names of element types by their numbers in onnx.proto.
  private static let elementTypes: [Int: String] = [
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
    17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
  ]
}
