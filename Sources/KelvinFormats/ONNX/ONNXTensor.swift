import KelvinGraph

/// A `TensorProto` whose elements are still in the file.
struct ONNXTensor {
  let name: String
  /// The file beside the model that holds the elements, where the model itself does not.
  let location: String?
  private let message: WireMessage

  /// Reads the name and the place of the elements.
  init(_ message: WireMessage) throws(FormatError) {
    var name = ""
    var location: String?
    var isExternal = false
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXSchema.TensorProto.name: name = try field.name()
      case ONNXSchema.TensorProto.dataLocation:
        isExternal = try field.integer() == ONNXSchema.TensorProto.DataLocation.external
      case ONNXSchema.TensorProto.externalData:
        let entry = try ONNXEntry(field.message())
        if entry.key == "location" { location = entry.value }
      default: break
      }
    }
    self.name = name
    self.location = isExternal ? location ?? "" : nil
    self.message = message
  }

  /// The elements: part of the mapped file where they are stored plainly, converted where they are not. bfloat16 becomes
  /// float32.
  func read(_ files: ModelFiles) throws(FormatError) -> Tensor {
    typealias Fields = ONNXSchema.TensorProto
    var contents = Contents()
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.dims: try field.append(to: &contents.dimensions, limit: Emitter.rankLimit)
      case Fields.dataType: contents.dataType = try field.integer()
      case Fields.rawData: contents.raw = try field.bytes()
      case Fields.externalData:
        let entry = try ONNXEntry(field.message())
        if entry.key == "offset" { contents.externalOffset = try number(entry) }
        if entry.key == "length" { contents.externalLength = try number(entry) }
      case Fields.floatData, Fields.doubleData, Fields.int32Data, Fields.int64Data, Fields.uint64Data:
        try field.check(contents.typed.count)
        contents.typed.append(field)
      default: break
      }
    }
    let isBrainFloat = contents.dataType == Fields.DataType.bfloat16
    guard let scalar = isBrainFloat ? .uint16 : ScalarType(onnx: contents.dataType) else {
      throw FormatError(
        .unsupported, file: message.file, place: "tensor '\(name)'", offset: message.offset,
        "its element type is ONNX's number \(contents.dataType)")
    }
    let shape = Shape(contents.dimensions)
    guard shape.isAddressable else { throw malformed("its shape \(shape) is not a valid shape") }
    let type = TensorType(scalar, shape)
    let tensor = try elements(type, contents, files)
    return isBrainFloat ? tensor.widenedBrainFloats() : tensor
  }

  /// The texts of a tensor of texts; nil for one of numbers.
  func texts() throws(FormatError) -> TextTensor? {
    typealias Fields = ONNXSchema.TensorProto
    var dimensions: [Int] = []
    var dataType = 0
    var texts: [String] = []
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.dims: try field.append(to: &dimensions, limit: Emitter.rankLimit)
      case Fields.dataType: dataType = try field.integer()
      case Fields.stringData: try field.append(to: &texts)
      default: break
      }
    }
    guard dataType == Fields.DataType.string else { return nil }
    let shape = Shape(dimensions)
    guard shape.isAddressable, shape.count == texts.count else {
      throw malformed("its shape is \(shape), it has \(texts.count) texts")
    }
    return TextTensor(texts, shape)
  }

  private struct Contents {
    var dimensions: [Int] = []
    var dataType = 0
    var raw: Bytes?
    var externalOffset = 0
    var externalLength: Int?
    var typed: [WireField] = []
  }

  private func elements(_ type: TensorType, _ contents: Contents, _ files: ModelFiles) throws(FormatError) -> Tensor {
    if let location {
      let file = try files.bytes(location, model: message.file)
      if let length = contents.externalLength, length != type.byteCount {
        throw malformed("\(type) takes \(type.byteCount) bytes, \(length) are given in '\(location)'")
      }
      guard let bytes = file.slice(offset: contents.externalOffset, count: type.byteCount) else {
        throw malformed(
          "its \(type.byteCount) bytes from \(contents.externalOffset) lie outside '\(location)', which has \(file.count)"
        )
      }
      return Tensor(type, bytes)
    }
    if let raw = contents.raw, contents.typed.isEmpty || raw.count > 0 {
      guard raw.count == type.byteCount else {
        throw malformed("\(type) takes \(type.byteCount) bytes, it has \(raw.count)")
      }
      return Tensor(type, raw)
    }
    return try typedElements(type, contents.typed)
  }

  /// Elements in the typed fields: floats and doubles as they are, integers as varints, float16 as bits in integers.
  private func typedElements(_ type: TensorType, _ fields: [WireField]) throws(FormatError) -> Tensor {
    if fields.count == 1, case .bytes(let packed) = fields[0].value,
      type.scalar == .float32 || type.scalar == .float64, packed.count == type.byteCount
    {
      return Tensor(type, packed)
    }
    let available = fields.reduce(0) { total, field in
      if case .bytes(let packed) = field.value { total + packed.count } else { total + 1 }
    }
    guard type.count <= available else { throw malformed("\(type) has \(type.count) elements, the file fewer") }
    switch type.scalar {
    case .float32:
      var values: [Float] = []
      for field in fields { try field.append(to: &values, limit: type.count) }
      return try exactly(values.count, type) { Bytes(values) }
    case .float64:
      var values: [Double] = []
      for field in fields { try field.append(to: &values, limit: type.count) }
      return try exactly(values.count, type) { Bytes(values) }
    default:
      var values: [Int] = []
      for field in fields { try field.append(to: &values, limit: type.count) }
      return try exactly(values.count, type) {
        switch type.scalar.byteCount {
        case 1: Bytes(values.map { UInt8(truncatingIfNeeded: $0) })
        case 2: Bytes(values.map { UInt16(truncatingIfNeeded: $0) })
        case 4: Bytes(values.map { UInt32(truncatingIfNeeded: $0) })
        default: Bytes(values)
        }
      }
    }
  }

  private func exactly(_ count: Int, _ type: TensorType, _ bytes: () -> Bytes) throws(FormatError) -> Tensor {
    guard count == type.count else { throw malformed("\(type) has \(type.count) elements, \(count) are given") }
    return Tensor(type, bytes())
  }

  private func number(_ entry: ONNXEntry) throws(FormatError) -> Int {
    guard let number = Int(entry.value), number >= 0 else {
      throw malformed("external \(entry.key) '\(entry.value)' is not a size")
    }
    return number
  }

  private func malformed(_ reason: String) -> FormatError {
    FormatError(
      .malformed, file: message.file, place: "tensor '\(name)'", offset: message.offset, reason,
      remedy: "the file is damaged, or its weights are another model's")
  }
}

extension ScalarType {
  /// The element type with a number of `TensorProto.DataType`; bfloat16 is computed in float32.
  init?(onnx number: Int) {
    typealias Number = ONNXSchema.TensorProto.DataType
    switch number {
    case Number.float, Number.bfloat16: self = .float32
    case Number.float16: self = .float16
    case Number.double: self = .float64
    case Number.int8: self = .int8
    case Number.int16: self = .int16
    case Number.int32: self = .int32
    case Number.int64: self = .int64
    case Number.uint8: self = .uint8
    case Number.uint16: self = .uint16
    case Number.uint32: self = .uint32
    case Number.uint64: self = .uint64
    case Number.bool: self = .bool
    default: return nil
    }
  }
}

extension Tensor {
  /// Reads 16-bit elements as bfloat16.
  func widenedBrainFloats() -> Tensor {
    let widened = Bytes(count: 4 * count) { target in
      bytes.withUnsafeBytes { source in
        for index in 0..<count {
          let bits = source.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
          target.storeBytes(of: UInt32(bits) << 16, toByteOffset: 4 * index, as: UInt32.self)
        }
      }
    }
    return Tensor(TensorType(.float32, shape), widened)
  }
}
