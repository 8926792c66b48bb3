import KelvinGraph
import KelvinImport

/// A constant whose elements are floating-point numbers: of a program, in a weight file, or an initializer.
struct StoredTensor {
  let name: String
  let type: ElementType
  let shape: [Int]
  /// The position of the record in the weight file, or among the initializers.
  let record: Int
  let elements: Bytes

  var count: Int { shape.reduce(1, *) }
  var byteCount: Int { elements.count }

  /// The elements as float32.
  var values: [Float] {
    elements.withUnsafeBytes { bytes in
      [Float](unsafeUninitializedCapacity: count) { numbers, filled in
        if type == .float16 {
          for index in 0..<count {
            let bits = UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
            numbers[index] = Self.number(half: bits)
          }
        } else {
          for index in 0..<count {
            let bits = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
            numbers[index] = Float(bitPattern: bits)
          }
        }
        filled = count
      }
    }
  }

  /// Returns the number with the bits of a float16 number. `Float16` has no instruction without F16C.
  private static func number(half bits: UInt16) -> Float {
    let (sign, magnitude) = (UInt32(bits & 0x8000) << 16, UInt32(bits & 0x7FFF))
    if magnitude < 0x0400 { return Float(bitPattern: (Float(magnitude) * 0x1p-24).bitPattern | sign) }
    return Float(bitPattern: magnitude << 13 &+ (magnitude < 0x7C00 ? 0x3800_0000 : 0x7000_0000) | sign)
  }

  init(name: String, type: ElementType, shape: [Int], record: Int, elements: Bytes) {
    (self.name, self.type, self.shape) = (name, type, shape)
    (self.record, self.elements) = (record, elements)
  }

  /// Returns the tensor of an operation; nil for other operations than constants in a weight file.
  init?(_ operation: WireMessage, _ files: WeightFiles) throws(FormatError) {
    var (kind, name): (String, String) = ("", "")
    var value: WireMessage?
    var reader = operation.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.Operation.type: kind = try field.string()
      case Fields.Operation.outputs:
        name = try field.message().last(Fields.NamedValueType.name)?.string() ?? ""
      case Fields.Operation.attributes:
        let entry = try field.message()
        if try entry.last(Fields.MapEntry.key)?.string() == "val" {
          value = try entry.last(Fields.MapEntry.value)?.message()
        }
      default: break
      }
    }
    guard kind == "const", let value, let blob = try value.last(Fields.Value.blobFileValue)?.message(),
      let tensor = try value.last(Fields.Value.type)?.message().last(Fields.ValueType.tensorType)?.message(),
      let number = try tensor.last(Fields.TensorType.dataType)?.integer(),
      let type = ElementType(rawValue: number), type == .float16 || type == .float32
    else { return nil }
    var shape: [Int] = []
    try tensor.each(Fields.TensorType.dimensions) { (field) throws(FormatError) in
      let constant = try field.message().last(Fields.Dimension.constant)?.message()
      shape.append(try constant?.last(Fields.Dimension.size)?.integer() ?? 0)
    }
    let found = try files.record(blob)
    guard Shape(shape).isAddressable, found.record.type == type.blobNumber,
      found.record.elements.count == Shape(shape).count * type.byteCount
    else {
      throw FormatError(
        .malformed, file: operation.file, place: "constant '\(name)'", offset: operation.offset,
        "its record in the weight file does not have its type or size")
    }
    (self.name, self.type, self.shape) = (name, type, shape)
    (record, elements) = (found.position, found.record.elements)
  }
}

/// The weight files that a program refers to.
struct WeightFiles {
  /// The folder of the model's file.
  let folder: String
  private let files: ModelFiles

  init(folder: String, allowsLinks: Bool) {
    self.folder = folder
    files = ModelFiles(folder: folder, allowsLinks: allowsLinks)
  }

  /// Returns the record of a `BlobFileValue`, with its file, relative to the folder, and its position.
  func record(_ blob: WireMessage) throws(FormatError) -> (file: String, position: Int, record: WeightRecord) {
    try record(
      in: try blob.last(Fields.BlobFileValue.fileName)?.string() ?? "",
      at: try blob.last(Fields.BlobFileValue.offset)?.integer() ?? 0, model: blob.file)
  }

  /// Returns the record at a position of a file, by the file's name in a program.
  ///
  /// - Parameter model: The name of the model in errors.
  func record(
    in path: String, at position: Int, model: String
  ) throws(FormatError) -> (file: String, position: Int, record: WeightRecord) {
    let prefix = "@model_path/"
    let name = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
    guard let record = WeightRecord(try files.bytes(name, model: model), at: position) else {
      throw FormatError(
        .malformed, file: name, offset: position, "no record starts here",
        remedy: "the weight file is damaged or belongs to another model")
    }
    return (name, position, record)
  }
}

extension WireMessage {
  func messages(_ number: Int) throws(FormatError) -> [WireMessage] {
    var found: [WireMessage] = []
    try each(number) { (field) throws(FormatError) in found.append(try field.message()) }
    return found
  }

  /// Returns the last occurrence of a field.
  func last(_ number: Int) throws(FormatError) -> WireField? {
    var found: WireField?
    try each(number) { found = $0 }
    return found
  }
}
