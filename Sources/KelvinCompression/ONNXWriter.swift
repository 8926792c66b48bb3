import KelvinBasics
import KelvinGraph
import KelvinImport

/// Copies an ONNX model with some of its weights in other forms, in one file.
///
/// float16 is a `Cast`, int8 a `DequantizeLinear` with a scale for each channel, and int4 in blocks a `MatMulNBits` of
/// ONNX Runtime in place of a `MatMul`.
struct ONNXWriter {
  private let weights: ONNXWeights
  /// The weights to replace, by the positions of their initializers.
  private let codes: [ExactString: (tensor: StoredTensor, code: CompressedWeight.Code)]
  private var usesRuntimeOperators = false
  private static let runtimeDomain = "com.microsoft"

  init(_ weights: ONNXWeights, codes: [Int: CompressedWeight]) {
    self.weights = weights
    self.codes = Dictionary(
      weights.tensors.compactMap { tensor in
        codes[tensor.record].map { (ExactString(tensor.name), (tensor, $0.code)) }
      }
    ) { first, _ in first }
    usesRuntimeOperators = self.codes.values.contains { Self.isProduct($0.code) }
  }

  private static func isProduct(_ code: CompressedWeight.Code) -> Bool {
    if case .integers(let integers) = code { integers.bits == 4 } else { false }
  }

  /// Returns the copy of the model.
  ///
  /// - Throws: `FormatError`: `unsupported` if a form needs a later operator set, or if the copy exceeds 2 GiB.
  func model() throws(FormatError) -> [UInt8] {
    var writer = WireWriter()
    var hasRuntime = false
    var reader = weights.model.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXFields.Model.graph: writer.bytes(field.number, try graph(field.message()))
      case ONNXFields.Model.opsetImport:
        let domain = try field.message().last(ONNXFields.OperatorSet.domain)?.string()
        hasRuntime = hasRuntime || domain == Self.runtimeDomain
        writer.copy(field)
      default: writer.copy(field)
      }
    }
    if usesRuntimeOperators, !hasRuntime {
      writer.message(ONNXFields.Model.opsetImport) { set in
        set.text(ONNXFields.OperatorSet.domain, Self.runtimeDomain)
        set.integer(ONNXFields.OperatorSet.version, 1)
      }
    }
    guard writer.bytes.count <= ONNXWeights.byteLimit else {
      throw FormatError(
        .unsupported, file: weights.model.file,
        "the copy has \(HumanReadable.bytes(writer.bytes.count)), and an ONNX file at most 2 GiB",
        remedy: "choose smaller forms")
    }
    return writer.bytes
  }

  private func graph(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    var writer = WireWriter()
    // Nodes are in the order of execution; those that decode weights come first.
    for (tensor, code) in codes.values.sorted(by: { $0.tensor.record < $1.tensor.record }) {
      try decoding(tensor, code, &writer)
    }
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXFields.Graph.node: writer.bytes(field.number, try node(field))
      case ONNXFields.Graph.initializer:
        let tensor = try field.message()
        if try codes[name(of: tensor, ONNXFields.Tensor.name)] == nil { writer.bytes(field.number, try whole(tensor)) }
      // Initializers may also be inputs with defaults; a decoded weight is none.
      case ONNXFields.Graph.input where try codes[name(of: field.message(), ONNXFields.ValueInfo.name)] != nil: break
      default: writer.copy(field)
      }
    }
    return writer.bytes
  }

  private func name(of message: WireMessage, _ number: Int) throws(FormatError) -> ExactString {
    ExactString(try message.last(number)?.name() ?? "")
  }

  /// Returns an initializer whose elements are in the message.
  private func whole(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    var (writer, isExternal) = (WireWriter(), false)
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXFields.Tensor.externalData: isExternal = true
      case ONNXFields.Tensor.dataLocation: break
      default: writer.copy(field)
      }
    }
    if isExternal, let elements = try weights.elements(message) {
      elements.withUnsafeBytes { writer.bytes(ONNXFields.Tensor.rawData, $0) }
    }
    return writer.bytes
  }

  /// Returns a node; a product with a weight of 4 bits becomes one of ONNX Runtime's.
  private func node(_ field: WireField) throws(FormatError) -> [UInt8] {
    let node = try field.message()
    var inputs: [String] = []
    try node.each(ONNXFields.Node.input) { (field) throws(FormatError) in inputs.append(try field.name()) }
    guard try node.last(ONNXFields.Node.type)?.string() == "MatMul", inputs.count == 2,
      let (tensor, code) = codes[ExactString(inputs[1])], case .integers(let integers) = code, integers.bits == 4
    else { return node.bytes.withUnsafeBytes { [UInt8]($0) } }
    var writer = WireWriter()
    for name in [inputs[0], "\(tensor.name)_codes", "\(tensor.name)_scales"] {
      writer.text(ONNXFields.Node.input, name)
    }
    var reader = node.fields()
    while let field = try reader.next() {
      if [ONNXFields.Node.output, ONNXFields.Node.name].contains(field.number) { writer.copy(field) }
    }
    writer.text(ONNXFields.Node.type, "MatMulNBits")
    writer.text(ONNXFields.Node.domain, Self.runtimeDomain)
    let depth = tensor.shape[0]
    for (name, value) in [
      ("K", depth), ("N", tensor.shape[1]), ("bits", 4), ("block_size", depth / integers.blocksPerChannel),
    ] {
      Self.attribute(name, value, &writer)
    }
    return writer.bytes
  }

  /// Writes the initializers of a weight, and the node that decodes them.
  private func decoding(
    _ tensor: StoredTensor, _ code: CompressedWeight.Code, _ writer: inout WireWriter
  ) throws(FormatError) {
    let isTransposed = weights.uses[tensor.record]?.isTransposed ?? false
    let stored = "\(tensor.name)_codes"
    switch code {
    case .half(let bits):
      let values = isTransposed ? Self.transposed(bits, [tensor.shape[1], tensor.shape[0]]) : bits
      Self.initializer(stored, ONNXFields.float16, StoredElements(halves: values, tensor.shape), &writer)
      Self.node("Cast", [stored], tensor.name, [("to", ONNXFields.float)], &writer)
    case .integers(let code) where code.bits == 8:
      guard weights.opset >= ONNXWeights.int8Opset else {
        throw FormatError(
          .unsupported, file: weights.model.file,
          "its operator set is \(weights.opset), and int8 with a scale for each channel needs \(ONNXWeights.int8Opset)",
          remedy: "convert the model with onnx.version_converter, or use float16")
      }
      let values = isTransposed ? Self.transposed(code.values, [tensor.shape[1], tensor.shape[0]]) : code.values
      Self.initializer(stored, ONNXFields.int8, StoredElements(values, .int8, tensor.shape), &writer)
      Self.initializer(
        "\(tensor.name)_scales", Self.number(of: tensor.type),
        StoredElements(code.scales, tensor.type, [code.scales.count]), &writer)
      Self.node(
        "DequantizeLinear", [stored, "\(tensor.name)_scales"], tensor.name, [("axis", isTransposed ? 1 : 0)], &writer)
    case .integers(let code):
      // Each channel's numbers in blocks, two in a byte, the first in the low half; 8 stands for 0.
      let bytes = stride(from: 0, to: code.values.count, by: 2).map { place in
        UInt8(code.values[place] + 8) | UInt8(code.values[place + 1] + 8) << 4
      }
      let (channels, blocks) = (tensor.shape[1], code.blocksPerChannel)
      let shape = [channels, blocks, bytes.count / (channels * blocks)]
      Self.initializer(stored, ONNXFields.uint8, StoredElements(bytes, .uint8, shape), &writer)
      Self.initializer(
        "\(tensor.name)_scales", Self.number(of: tensor.type),
        StoredElements(code.scales, tensor.type, [code.scales.count]), &writer)
    case .dense(let numbers):
      let values = isTransposed ? Self.transposed(numbers, [tensor.shape[1], tensor.shape[0]]) : numbers
      Self.initializer(
        tensor.name, Self.number(of: tensor.type), StoredElements(values, tensor.type, tensor.shape), &writer)
    case .palette, .sparse: preconditionFailure("a form of Core ML in an ONNX model")
    }
  }

  private static func number(of type: ElementType) -> Int {
    type == .float16 ? ONNXFields.float16 : ONNXFields.float
  }

  /// Returns the transpose of a matrix.
  static func transposed<Element>(_ values: [Element], _ shape: [Int]) -> [Element] {
    (0..<values.count).map { values[$0 % shape[0] * shape[1] + $0 / shape[0]] }
  }

  private static func initializer(
    _ name: String, _ type: Int, _ elements: StoredElements, _ writer: inout WireWriter
  ) {
    writer.message(ONNXFields.Graph.initializer) { tensor in
      for size in elements.shape { tensor.integer(ONNXFields.Tensor.dims, size) }
      tensor.integer(ONNXFields.Tensor.dataType, type)
      tensor.text(ONNXFields.Tensor.name, name)
      tensor.bytes(ONNXFields.Tensor.rawData, elements.bytes)
    }
  }

  private static func node(
    _ type: String, _ inputs: [String], _ output: String, _ attributes: [(String, Int)], _ writer: inout WireWriter
  ) {
    writer.message(ONNXFields.Graph.node) { node in
      for input in inputs { node.text(ONNXFields.Node.input, input) }
      node.text(ONNXFields.Node.output, output)
      node.text(ONNXFields.Node.name, "\(output)_decoding")
      node.text(ONNXFields.Node.type, type)
      for (name, value) in attributes { attribute(name, value, &node) }
    }
  }

  private static func attribute(_ name: String, _ value: Int, _ writer: inout WireWriter) {
    writer.message(ONNXFields.Node.attribute) { attribute in
      attribute.text(ONNXFields.Attribute.name, name)
      attribute.integer(ONNXFields.Attribute.integer, value)
      attribute.integer(ONNXFields.Attribute.type, ONNXFields.integerAttribute)
    }
  }
}
