import KelvinGraph
import KelvinImport

/// Copies an ML Program with some of its constants in other forms. The weights move to a new weight file.
struct ProgramWriter {
  /// The specification version from which programs have compressed weights (iOS 16).
  static let version = 7
  private static let weightPath = "@model_path/weights/weight.bin"

  let files: WeightFiles
  /// The weights to replace, by the positions of their records.
  let codes: [Int: CompressedWeight]
  private(set) var weights = WeightFile()
  /// By position in the source's weight file, the position in the new one.
  private var moved: [Int: Int] = [:]
  /// By position in the source's weight file, the records of a compressed weight.
  private var coded: [Int: (data: Int, table: Int)] = [:]

  init(_ files: WeightFiles, codes: [Int: CompressedWeight]) {
    self.files = files
    self.codes = codes
  }

  /// Returns the copy of a `Model` message.
  mutating func model(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      switch field.number {
      case Fields.Model.specificationVersion:
        writer.integer(field.number, max(try field.integer(), self.codes.isEmpty ? 0 : Self.version))
      case Fields.Model.mlProgram: writer.bytes(field.number, try self.program(field.message()))
      default: writer.copy(field)
      }
    }
  }

  private mutating func program(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      guard field.number == Fields.Program.functions else { return writer.copy(field) }
      writer.bytes(
        field.number,
        try self.entry(field.message()) { (self, function) throws(FormatError) in
          try self.function(function)
        })
    }
  }

  private mutating func function(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      guard field.number == Fields.Function.blockSpecializations else { return writer.copy(field) }
      writer.bytes(
        field.number,
        try self.entry(field.message()) { (self, block) throws(FormatError) in
          try self.block(block)
        })
    }
  }

  private mutating func block(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      guard field.number == Fields.Block.operations else { return writer.copy(field) }
      writer.bytes(field.number, try self.operation(field.message()))
    }
  }

  private mutating func operation(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    if let tensor = try StoredTensor(message, files), let code = codes[tensor.record] {
      return try constant(message, tensor, code)
    }
    return try rewritten(message) { (self, field, writer) throws(FormatError) in
      switch field.number {
      case Fields.Operation.inputs:
        writer.bytes(
          field.number,
          try self.entry(field.message()) { (self, argument) throws(FormatError) in
            try self.argument(argument)
          })
      case Fields.Operation.attributes:
        writer.bytes(
          field.number,
          try self.entry(field.message()) { (self, value) throws(FormatError) in
            try self.value(value)
          })
      case Fields.Operation.blocks: writer.bytes(field.number, try self.block(field.message()))
      default: writer.copy(field)
      }
    }
  }

  private mutating func argument(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      guard field.number == Fields.Argument.arguments else { return writer.copy(field) }
      writer.bytes(
        field.number,
        try self.rewritten(field.message()) { (self, field, writer) throws(FormatError) in
          guard field.number == Fields.Binding.value else { return writer.copy(field) }
          writer.bytes(field.number, try self.value(field.message()))
        })
    }
  }

  /// Copies a value. One in a weight file moves to the new one.
  private mutating func value(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      guard field.number == Fields.Value.blobFileValue else { return writer.copy(field) }
      let (_, position, record) = try self.files.record(field.message())
      let place = self.moved[position] ?? record.elements.withUnsafeBytes { self.weights.add($0, type: record.type) }
      self.moved[position] = place
      Self.blob(place, &writer)
    }
  }

  /// Copies an entry of a map with a rewritten value.
  private mutating func entry(
    _ message: WireMessage, _ rewrite: (inout Self, WireMessage) throws(FormatError) -> [UInt8]
  ) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      guard field.number == Fields.MapEntry.value else { return writer.copy(field) }
      writer.bytes(field.number, try rewrite(&self, field.message()))
    }
  }

  private mutating func rewritten(
    _ message: WireMessage, _ write: (inout Self, WireField, inout WireWriter) throws(FormatError) -> Void
  ) throws(FormatError) -> [UInt8] {
    var writer = WireWriter()
    var reader = message.fields()
    while let field = try reader.next() { try write(&self, field, &writer) }
    return writer.bytes
  }

  private static func blob(_ place: Int, _ writer: inout WireWriter) {
    writer.message(Fields.Value.blobFileValue) { blob in
      blob.text(Fields.BlobFileValue.fileName, weightPath)
      blob.integer(Fields.BlobFileValue.offset, place)
    }
  }

  /// Writes the operation of a compressed weight in place of a constant. Its output keeps its name and type.
  private mutating func constant(
    _ message: WireMessage, _ tensor: StoredTensor, _ code: CompressedWeight
  ) throws(FormatError) -> [UInt8] {
    var writer = WireWriter()
    switch code.code {
    case .palette(let indices, let table):
      let places = place(tensor, indices, .uint8, table)
      writer.text(Fields.Operation.type, "constexpr_lut_to_dense")
      writer.entry(Fields.Operation.attributes, "indices") { Self.stored(.uint8, [indices.count], places.data, &$0) }
      writer.entry(Fields.Operation.attributes, "lut") { Self.stored(tensor.type, [table.count], places.table, &$0) }
      writer.entry(Fields.Operation.attributes, "shape") { value in
        Self.type(.uint32, [tensor.shape.count], Fields.Value.type, &value)
        value.message(Fields.Value.immediateValue) { immediate in
          immediate.message(Fields.ImmediateValue.tensor) { list in
            list.message(Fields.TensorValue.bytes) { list in
              list.bytes(
                Fields.TensorValue.values,
                tensor.shape.flatMap { size in withUnsafeBytes(of: UInt32(size).littleEndian) { [UInt8]($0) } })
            }
          }
        }
      }
    case .int8(let values, let scales):
      let places = place(tensor, values, .int8, scales)
      let zeros = [UInt8](repeating: 0, count: scales.count)
      let zero = zeros.withUnsafeBytes { weights.add($0, type: ElementType.int8.blobNumber) }
      writer.text(Fields.Operation.type, "constexpr_affine_dequantize")
      writer.entry(Fields.Operation.attributes, "quantized_data") { Self.stored(.int8, tensor.shape, places.data, &$0) }
      writer.entry(Fields.Operation.attributes, "scale") { Self.stored(tensor.type, [scales.count], places.table, &$0) }
      writer.entry(Fields.Operation.attributes, "zero_point") { Self.stored(.int8, [scales.count], zero, &$0) }
      writer.entry(Fields.Operation.attributes, "axis") { value in
        Self.type(.int32, [], Fields.Value.type, &value)
        value.message(Fields.Value.immediateValue) { immediate in
          immediate.message(Fields.ImmediateValue.tensor) { list in
            list.message(Fields.TensorValue.ints) { $0.bytes(Fields.TensorValue.values, [0]) }
          }
        }
      }
    }
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.Operation.outputs: writer.copy(field)
      case Fields.Operation.attributes where try field.message().last(Fields.MapEntry.key)?.string() == "name":
        writer.copy(field)
      default: break
      }
    }
    return writer.bytes
  }

  /// Returns the places of a compressed weight's elements and of its table or scales. Constants with one record share them.
  private mutating func place(
    _ tensor: StoredTensor, _ data: [some BitwiseCopyable], _ type: ElementType, _ table: [Float]
  ) -> (data: Int, table: Int) {
    if let known = coded[tensor.record] { return known }
    let first = data.withUnsafeBytes { weights.add($0, type: type.blobNumber) }
    let second =
      tensor.type == .float16
      ? table.map { Float16($0).bitPattern.littleEndian }.withUnsafeBytes {
        weights.add($0, type: tensor.type.blobNumber)
      }
      : table.map { $0.bitPattern.littleEndian }.withUnsafeBytes { weights.add($0, type: tensor.type.blobNumber) }
    coded[tensor.record] = (first, second)
    return (first, second)
  }

  /// Writes a value whose elements are in the weight file.
  private static func stored(_ type: ElementType, _ shape: [Int], _ place: Int, _ writer: inout WireWriter) {
    Self.type(type, shape, Fields.Value.type, &writer)
    blob(place, &writer)
  }

  private static func type(_ type: ElementType, _ shape: [Int], _ number: Int, _ writer: inout WireWriter) {
    writer.message(number) { value in
      value.message(Fields.ValueType.tensorType) { tensor in
        tensor.integer(Fields.TensorType.dataType, type.rawValue)
        if !shape.isEmpty { tensor.integer(Fields.TensorType.rank, shape.count) }
        for size in shape {
          tensor.message(Fields.TensorType.dimensions) { dimension in
            dimension.message(Fields.Dimension.constant) { $0.integer(Fields.Dimension.size, size) }
          }
        }
      }
    }
  }
}
