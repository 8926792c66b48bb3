import KelvinGraph
import KelvinImport

/// A `TensorProto` message whose elements are still in the file.
struct ONNXTensor {
  let name: String
  /// The external file that holds the elements; nil if the model itself holds them.
  let location: String?
  /// The element type, a number of `TensorProto.DataType`.
  let elementType: Int
  let message: WireMessage
  /// The indices of the elements of a sparse tensor; nil for a dense one.
  var places: ONNXSparseIndices?

  /// Reads the name and the location of the elements.
  init(_ message: WireMessage) throws(FormatError) {
    var name = ""
    var location: String?
    var isExternal = false
    var elementType = 0
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case ONNXSchema.TensorProto.dataType: elementType = try field.integer()
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
    self.elementType = elementType
    self.message = message
  }

  /// Creates a tensor of integers that is not in a file, as a message.
  init(named name: String, integers: [Int], _ dimensions: [Int], file: String) {
    typealias Fields = ONNXSchema.TensorProto
    var message: [UInt8] = []
    func varint(_ number: Int) {
      var rest = UInt64(number)
      while rest > 0x7F {
        message.append(UInt8(rest & 0x7F | 0x80))
        rest >>= 7
      }
      message.append(UInt8(rest))
    }
    for size in dimensions {
      varint(Fields.dims << 3)
      varint(size)
    }
    varint(Fields.rawData << 3 | 2)
    varint(8 * integers.count)
    for integer in integers {
      withUnsafeBytes(of: Int64(integer).littleEndian) { message.append(contentsOf: $0) }
    }
    (self.name, location, elementType) = (name, nil, Fields.DataType.int64)
    self.message = WireMessage(Bytes(message), file: file)
  }

  /// Returns the elements in the file's encoding; those of low-precision types stay codes.
  func weight(_ files: ModelFiles) throws(FormatError) -> Weight {
    if let places { return Weight(try spread(places, files)) }
    if let lowPrecisionType { return try codes(lowPrecisionType, files) }
    return Weight(try dense(files))
  }

  /// Returns the elements: a view of the mapped file if they are stored plainly, otherwise converted. bfloat16 becomes
  /// float32, and a low-precision type becomes the type that holds it.
  func read(_ files: ModelFiles) throws(FormatError) -> Tensor {
    if let places { return try spread(places, files) }
    return try stored(files)
  }

  /// Returns the elements that the file stores.
  func stored(_ files: ModelFiles) throws(FormatError) -> Tensor {
    if let lowPrecisionType { return try codes(lowPrecisionType, files).dense() }
    return try dense(files)
  }

  private func dense(_ files: ModelFiles) throws(FormatError) -> Tensor {
    typealias Fields = ONNXSchema.TensorProto
    let isBrainFloat = elementType == Fields.DataType.bfloat16
    guard let scalar = isBrainFloat ? .uint16 : ScalarType(onnx: elementType) else {
      throw FormatError(
        .unsupported, file: message.file, place: "tensor '\(name)'", offset: message.offset,
        "its element type is ONNX's number \(elementType)")
    }
    let contents = try contents()
    let type = TensorType(scalar, try contents.shape(of: self))
    let tensor = try elements(type, contents, files)
    return isBrainFloat ? tensor.widenedBrainFloats() : tensor
  }

  /// Returns the sizes as the file declares them.
  func dimensions() throws(FormatError) -> [Int] {
    if let places { return places.dimensions }
    return try contents().dimensions
  }

  func contents() throws(FormatError) -> Contents {
    typealias Fields = ONNXSchema.TensorProto
    var contents = Contents()
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.dims: try field.append(to: &contents.dimensions, limit: Emitter.rankLimit)
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
    return contents
  }

  /// Returns the strings of a string tensor, or nil for a numeric tensor.
  func strings() throws(FormatError) -> StringTensor? {
    typealias Fields = ONNXSchema.TensorProto
    guard elementType == Fields.DataType.string else { return nil }
    guard places == nil else {
      throw FormatError(
        .unsupported, file: message.file, place: "tensor '\(name)'", offset: message.offset,
        "it is a sparse tensor of strings")
    }
    var dimensions: [Int] = []
    var strings: [String] = []
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.dims: try field.append(to: &dimensions, limit: Emitter.rankLimit)
      case Fields.stringData: try field.append(to: &strings)
      default: break
      }
    }
    let shape = Shape(dimensions)
    guard shape.isAddressable, shape.count == strings.count else {
      throw malformed("its shape is \(shape), it has \(strings.count) strings")
    }
    return StringTensor(strings, shape)
  }

  struct Contents {
    var dimensions: [Int] = []
    var raw: Bytes?
    var externalOffset = 0
    var externalLength: Int?
    var typed: [WireField] = []

    func shape(of tensor: ONNXTensor) throws(FormatError) -> Shape {
      let shape = Shape(dimensions)
      guard shape.isAddressable else { throw tensor.malformed("its shape \(shape) is not a valid shape") }
      return shape
    }
  }

  private func elements(_ type: TensorType, _ contents: Contents, _ files: ModelFiles) throws(FormatError) -> Tensor {
    if let bytes = try bytes(type.byteCount, "\(type)", contents, files) { return Tensor(type, bytes) }
    return try typedElements(type, contents.typed)
  }

  /// Returns the bytes of elements that are stored raw in the model or in an external file; nil for elements in typed
  /// fields.
  func bytes(
    _ count: Int, _ type: String, _ contents: Contents, _ files: ModelFiles
  ) throws(FormatError) -> Bytes? {
    if let location {
      let file = try files.bytes(location, model: message.file)
      if let length = contents.externalLength, length != count {
        throw malformed("\(type) takes \(count) bytes, \(length) are given in '\(location)'")
      }
      guard let bytes = file.slice(offset: contents.externalOffset, count: count) else {
        throw malformed(
          "its \(count) bytes from \(contents.externalOffset) are outside '\(location)', which has \(file.count)")
      }
      return bytes
    }
    guard let raw = contents.raw, contents.typed.isEmpty || raw.count > 0 else { return nil }
    guard raw.count == count else { throw malformed("\(type) takes \(count) bytes, it has \(raw.count)") }
    return raw
  }

  /// Returns elements from typed fields: floats and doubles, integers as varints, float16 as bits of integers.
  private func typedElements(_ type: TensorType, _ fields: [WireField]) throws(FormatError) -> Tensor {
    if fields.count == 1, case .bytes(let packed) = fields[0].value,
      type.scalar == .float32 || type.scalar == .float64, packed.count == type.byteCount
    {
      return Tensor(type, packed)
    }
    let available = fields.reduce(0) { total, field in
      if case .bytes(let packed) = field.value { total + packed.count } else { total + 1 }
    }
    guard type.count <= available else { throw malformed("\(type) has \(type.count) elements, but the file has fewer") }
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

  func malformed(_ reason: String) -> FormatError {
    FormatError(
      .malformed, file: message.file, place: "tensor '\(name)'", offset: message.offset, reason,
      remedy: "the file is damaged, or its weights belong to another model")
  }
}

extension ScalarType {
  private typealias Number = ONNXSchema.TensorProto.DataType
  private static let byONNXNumber: [Int: ScalarType] = [
    Number.float: .float32, Number.bfloat16: .float32, Number.float16: .float16, Number.double: .float64,
    Number.int8: .int8, Number.int16: .int16, Number.int32: .int32, Number.int64: .int64, Number.uint8: .uint8,
    Number.uint16: .uint16, Number.uint32: .uint32, Number.uint64: .uint64, Number.bool: .bool,
  ]

  /// Creates the element type of a number of `TensorProto.DataType`; bfloat16 is computed in float32.
  init?(onnx number: Int) {
    guard let scalar = Self.byONNXNumber[number] else { return nil }
    self = scalar
  }
}

extension Tensor {
  /// Returns 16-bit elements, read as bfloat16, in float32.
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
