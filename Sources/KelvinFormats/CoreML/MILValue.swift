import KelvinGraph

/// A `Value`: a constant, in the program itself or in a weight file. Its elements stay where they are until asked for.
struct MILValue {
  /// Where a weight file holds a value.
  struct Blob {
    /// Relative to the model's folder.
    var file = ""
    /// The position of the record that describes the elements.
    var offset = 0
  }

  var type = MILType()
  var blob: Blob?
  private var immediate: WireMessage?
  private let message: WireMessage

  init(_ message: WireMessage) throws(FormatError) {
    self.message = message
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case MILSchema.Value.type: type = try MILType(field.message())
      case MILSchema.Value.immediateValue: immediate = try field.message()
      case MILSchema.Value.blobFileValue: blob = try Self.blob(field.message())
      default: break
      }
    }
  }

  private static func blob(_ message: WireMessage) throws(FormatError) -> Blob {
    var blob = Blob()
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case MILSchema.Value.BlobFileValue.fileName:
        let name = try field.string()
        blob.file = name.hasPrefix("@model_path/") ? String(name.dropFirst(12)) : name
      case MILSchema.Value.BlobFileValue.offset: blob.offset = try field.integer()
      default: break
      }
    }
    return blob
  }

  /// The elements of a numeric tensor; those in a weight file are mapped.
  func tensor(_ files: ModelFiles, name: String) throws(FormatError) -> Tensor {
    guard let type = type.tensorType else {
      throw FormatError(
        .unsupported, file: message.file, place: "constant '\(name)'", offset: message.offset,
        "it is not a tensor of known sizes and of an element type that Kelvin has")
    }
    if let blob { return Tensor(type, try WeightBlob(blob, files, message.file, name).elements(type)) }
    guard let list = try immediate?.message(MILSchema.Value.ImmediateValue.tensor) else {
      throw malformed(name, "it has no value")
    }
    guard let tensor = try Self.tensor(list, type) else {
      throw malformed(name, "\(type) has \(type.count) elements, the file another number")
    }
    return tensor
  }

  /// The elements of a numeric tensor as they are stored, packed ones included.
  func weight(_ files: ModelFiles, name: String) throws(FormatError) -> Weight {
    guard let packing = type.packing, let shape = type.shape else { return Weight(try tensor(files, name: name)) }
    let bytes: Bytes
    if let blob {
      bytes = try WeightBlob(blob, files, message.file, name).elements(packing, shape)
    } else {
      var stored: Bytes?
      if let list = try immediate?.message(MILSchema.Value.ImmediateValue.tensor)?.message(MILSchema.TensorValue.bytes)
      {
        var reader = list.fields()
        while let field = try reader.next() { stored = try field.bytes() }
      }
      guard let stored else { throw malformed(name, "it has no value") }
      bytes = stored
    }
    do throws(GraphError) {
      return Weight(try PackedIntegers(bytes, bits: packing.bits, isSigned: packing.isSigned, shape: shape))
    } catch { throw malformed(name, error.reason) }
  }

  /// The strings of a string tensor, or of a list of them.
  func strings() throws(FormatError) -> [String] {
    guard let immediate else { return [] }
    if let list = try immediate.message(MILSchema.Value.ImmediateValue.list) {
      var strings: [String] = []
      for value in try Self.values(list) { strings += try value.strings() }
      return strings
    }
    var strings: [String] = []
    guard let tensor = try immediate.message(MILSchema.Value.ImmediateValue.tensor),
      let list = try tensor.message(MILSchema.TensorValue.strings)
    else { return [] }
    var reader = list.fields()
    while let field = try reader.next() {
      if field.number == MILSchema.TensorValue.RepeatedStrings.values { try field.append(to: &strings) }
    }
    return strings
  }

  /// The integers of an integer tensor in the program, or of a list of them.
  func listedIntegers(_ files: ModelFiles) throws(FormatError) -> [Int64] {
    guard let immediate, let list = try immediate.message(MILSchema.Value.ImmediateValue.list) else {
      return try tensor(files, name: "labels").integers.map(Int64.init)
    }
    var integers: [Int64] = []
    for value in try Self.values(list) { integers += try value.listedIntegers(files) }
    return integers
  }

  private static func values(_ list: WireMessage) throws(FormatError) -> [MILValue] {
    var values: [MILValue] = []
    var reader = list.fields()
    while let field = try reader.next() {
      guard field.number == MILSchema.ListValue.values else { continue }
      try field.check(values.count)
      values.append(try MILValue(field.message()))
    }
    return values
  }

  /// - Returns: nil where the number of elements is not the type's.
  private static func tensor(_ message: WireMessage, _ type: TensorType) throws(FormatError) -> Tensor? {
    typealias Fields = MILSchema.TensorValue
    var reader = message.fields()
    while let field = try reader.next() {
      let list = try field.message()
      switch field.number {
      case Fields.bytes:
        var elements = list.fields()
        while let part = try elements.next() {
          let bytes = try part.bytes()
          return bytes.count == type.byteCount ? Tensor(type, bytes) : nil
        }
      case Fields.floats:
        var values: [Float] = []
        try collect(list) { (part) throws(FormatError) in try part.append(to: &values) }
        return rounded(values.map(Double.init), type)
      case Fields.doubles:
        var values: [Double] = []
        try collect(list) { (part) throws(FormatError) in try part.append(to: &values) }
        return rounded(values, type)
      case Fields.ints, Fields.longInts, Fields.bools:
        var values: [Int] = []
        try collect(list) { (part) throws(FormatError) in try part.append(to: &values) }
        if type.scalar == .int64 { return values.count == type.count ? Tensor(type, Bytes(values)) : nil }
        return rounded(values.map(Double.init), type)
      default: break
      }
    }
    return type.count == 0 ? rounded([], type) : nil
  }

  private static func collect(
    _ list: WireMessage, _ body: (WireField) throws(FormatError) -> Void
  ) throws(FormatError) {
    var reader = list.fields()
    while let field = try reader.next() { try body(field) }
  }

  private static func rounded(_ values: [Double], _ type: TensorType) -> Tensor? {
    values.count == type.count ? Tensor(type, rounding: values) : nil
  }

  private func malformed(_ name: String, _ reason: String) -> FormatError {
    FormatError(.malformed, file: message.file, place: "constant '\(name)'", offset: message.offset, reason)
  }
}
