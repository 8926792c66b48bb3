import KelvinGraph
import KelvinImport

/// The elements of a value in a program's text, those of a tensor in row-major order.
enum MILLiteral {
  /// Integers; booleans are 0 and 1.
  case integers([Int])
  case numbers([Double])
  case strings([String])
  case list([MILValue])
  case none
}

/// A `Value` message: a constant, in the program itself or in a weight file. Its elements are read on demand.
struct MILValue {
  /// The location of a value in a weight file.
  struct Blob {
    /// The path, relative to the model's folder.
    var file = ""
    /// The offset in bytes of the record that describes the elements.
    var offset = 0

    init(path: String, offset: Int) {
      file = path.hasPrefix("@model_path/") ? String(path.dropFirst(12)) : path
      self.offset = offset
    }
  }

  var type = MILType()
  var blob: Blob?
  /// The elements, if the program is text.
  var literal: MILLiteral?
  private var immediate: WireMessage?
  private let file: String
  private let offset: Int

  /// Creates a value of a program in text form.
  init(_ type: MILType, file: String, offset: Int) {
    self.type = type
    self.file = file
    self.offset = offset
  }

  init(_ message: WireMessage) throws(FormatError) {
    file = message.file
    offset = message.offset
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
    var (path, offset) = ("", 0)
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case MILSchema.Value.BlobFileValue.fileName: path = try field.string()
      case MILSchema.Value.BlobFileValue.offset: offset = try field.integer()
      default: break
      }
    }
    return Blob(path: path, offset: offset)
  }

  /// Returns the elements of a numeric tensor. Elements in a weight file are memory-mapped.
  func tensor(_ files: ModelFiles, name: String) throws(FormatError) -> Tensor {
    guard let type = type.tensorType else {
      throw FormatError(
        .unsupported, file: file, place: "constant '\(name)'", offset: offset,
        "it is not a tensor of known sizes and of a supported element type")
    }
    if let blob { return Tensor(type, try WeightBlob(blob, files, file, name).elements(type)) }
    let found: Tensor?
    switch literal {
    case .integers(let values)?: found = Self.rounded(values, type)
    case .numbers(let values)?: found = Self.rounded(values, type)
    case .strings?, .list?, MILLiteral.none?: found = nil
    case nil:
      guard let list = try immediate?.message(MILSchema.Value.ImmediateValue.tensor) else {
        throw malformed(name, "it has no value")
      }
      found = try Self.tensor(list, type)
    }
    guard let tensor = found else {
      throw malformed(name, "\(type) has \(type.count) elements, but the file has a different number")
    }
    return tensor
  }

  /// Returns the elements of a numeric tensor in their stored encoding, packed ones included.
  func weight(_ files: ModelFiles, name: String) throws(FormatError) -> Weight {
    guard let packing = type.packing, let shape = type.shape else { return Weight(try tensor(files, name: name)) }
    let bytes: Bytes
    if let blob {
      bytes = try WeightBlob(blob, files, file, name).elements(packing, shape)
    } else if case .integers(let values)? = literal {
      bytes = PackedIntegers.packing(values, bits: packing.bits)
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

  /// Returns the strings of a string tensor, or of a list of string tensors.
  func strings() throws(FormatError) -> [String] {
    if case .strings(let strings)? = literal { return strings }
    if case .list(let values)? = literal {
      var strings: [String] = []
      for value in values { strings += try value.strings() }
      return strings
    }
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
    try list.each(MILSchema.TensorValue.RepeatedStrings.values) { (field) throws(FormatError) in
      try field.append(to: &strings)
    }
    return strings
  }

  /// Returns the integers of an integer tensor in the program, or of a list of such tensors.
  func listedIntegers(_ files: ModelFiles) throws(FormatError) -> [Int64] {
    let values: [MILValue]
    if case .list(let listed)? = literal {
      values = listed
    } else if case .integers(let integers)? = literal {
      return integers.map(Int64.init)
    } else if let list = try immediate?.message(MILSchema.Value.ImmediateValue.list) {
      values = try Self.values(list)
    } else {
      return try tensor(files, name: "labels").integers.map(Int64.init)
    }
    var integers: [Int64] = []
    for value in values { integers += try value.listedIntegers(files) }
    return integers
  }

  private static func values(_ list: WireMessage) throws(FormatError) -> [MILValue] {
    var values: [MILValue] = []
    try list.each(MILSchema.ListValue.values) { (field) throws(FormatError) in
      try field.check(values.count)
      values.append(try MILValue(field.message()))
    }
    return values
  }

  /// Returns the tensor of a message.
  ///
  /// - Returns: Nil if the number of elements does not match the type.
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
        return rounded(values, type)
      default: break
      }
    }
    return type.count == 0 ? rounded([Double](), type) : nil
  }

  private static func collect(
    _ list: WireMessage, _ body: (WireField) throws(FormatError) -> Void
  ) throws(FormatError) {
    var reader = list.fields()
    while let field = try reader.next() { try body(field) }
  }

  private static func rounded(_ values: [Int], _ type: TensorType) -> Tensor? {
    if type.scalar == .int64 { return values.count == type.count ? Tensor(type, Bytes(values)) : nil }
    return rounded(values.map(Double.init), type)
  }

  private static func rounded(_ values: [Double], _ type: TensorType) -> Tensor? {
    values.count == type.count ? Tensor(type, rounding: values) : nil
  }

  private func malformed(_ name: String, _ reason: String) -> FormatError {
    FormatError(.malformed, file: file, place: "constant '\(name)'", offset: offset, reason)
  }
}
