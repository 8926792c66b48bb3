import KelvinGraph
import KelvinImport

/// Copies an ML Program with some of its constants in other forms. The weights move to a new weight file.
struct ProgramWriter {
  private static let weightPath = "@model_path/weights/weight.bin"

  let files: WeightFiles
  /// The weights to replace, by the positions of their records.
  let codes: [Int: CompressedWeight]
  /// Inner values that become outputs of the model, one for each name.
  var outputs: [WeightUse] = []
  private let system: Int
  private(set) var weights = WeightFile()
  /// By position in the source's weight file, the position in the new one.
  private var moved: [Int: Int] = [:]
  /// By position in the source's weight file, the records of each operation of a compressed weight.
  private var coded: [Int: [[Int]]] = [:]

  /// - Parameter system: The version of iOS whose operations the copy has: 16, or 18 and later. An older model becomes
  ///   one of that version.
  init(_ files: WeightFiles, codes: [Int: CompressedWeight], system: Int) {
    self.files = files
    self.codes = codes
    self.system = system
  }

  /// Returns the copy of a `Model` message.
  mutating func model(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      switch field.number {
      case Fields.Model.specificationVersion:
        let version = self.codes.isEmpty ? 0 : self.system >= 18 ? 9 : 7
        writer.integer(field.number, max(try field.integer(), version))
      case Fields.Model.description where !self.outputs.isEmpty:
        writer.bytes(field.number, try self.description(field.message()))
      case Fields.Model.mlProgram: writer.bytes(field.number, try self.program(field.message()))
      default: writer.copy(field)
      }
    }
  }

  private mutating func description(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    var writer = WireWriter()
    var reader = message.fields()
    while let field = try reader.next() { writer.copy(field) }
    for output in outputs {
      writer.message(Fields.ModelDescription.output) { feature in
        feature.text(Fields.FeatureDescription.name, output.input)
        feature.message(Fields.FeatureDescription.type) { type in
          type.message(Fields.FeatureType.multiArrayType) { array in
            for size in output.shape { array.integer(Fields.ArrayFeatureType.shape, size) }
            let isHalf = output.type == .float16
            array.integer(
              Fields.ArrayFeatureType.dataType,
              isHalf ? Fields.ArrayFeatureType.float16 : Fields.ArrayFeatureType.float32)
          }
        }
      }
    }
    return writer.bytes
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
    // A function names its operator set, and the blocks that were written for it.
    let opset = OperatorSet(try message.last(Fields.Function.opset)?.string() ?? "")
    let raised = system >= 18 && !codes.isEmpty && opset.number ?? 0 < OperatorSet.ios18 ? OperatorSet.ios18Name : nil
    return try rewritten(message) { (self, field, writer) throws(FormatError) in
      switch field.number {
      case Fields.Function.opset: writer.text(field.number, raised ?? opset.name)
      case Fields.Function.blockSpecializations:
        writer.bytes(
          field.number,
          try self.entry(field.message(), key: raised) { (self, block) throws(FormatError) in
            try self.block(block, outputs: self.outputs.map(\.input))
          })
      default: writer.copy(field)
      }
    }
  }

  private mutating func block(_ message: WireMessage, outputs: [String] = []) throws(FormatError) -> [UInt8] {
    var writer = WireWriter()
    var reader = message.fields()
    while let field = try reader.next() {
      guard field.number == Fields.Block.operations else {
        writer.copy(field)
        continue
      }
      for operation in try operations(field.message()) { writer.bytes(field.number, operation) }
    }
    for name in outputs { writer.text(Fields.Block.outputs, name) }
    return writer.bytes
  }

  /// Returns the copy of an operation, or those that compute a compressed weight.
  private mutating func operations(_ message: WireMessage) throws(FormatError) -> [[UInt8]] {
    if let tensor = try StoredTensor(message, files), let code = codes[tensor.record] {
      return try constant(message, tensor, code)
    }
    return [try operation(message)]
  }

  private mutating func operation(_ message: WireMessage) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
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
      let place =
        self.moved[position]
        ?? record.elements.withUnsafeBytes { self.weights.add($0, type: record.type, bits: record.bits) }
      self.moved[position] = place
      Self.blob(place, &writer)
    }
  }

  /// Copies an entry of a map with a rewritten value, and with another key if one is given.
  private mutating func entry(
    _ message: WireMessage, key: String? = nil,
    _ rewrite: (inout Self, WireMessage) throws(FormatError) -> [UInt8]
  ) throws(FormatError) -> [UInt8] {
    try rewritten(message) { (self, field, writer) throws(FormatError) in
      switch field.number {
      case Fields.MapEntry.value: writer.bytes(field.number, try rewrite(&self, field.message()))
      case Fields.MapEntry.key: if let key { writer.text(field.number, key) } else { writer.copy(field) }
      default: writer.copy(field)
      }
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

  /// Writes the operations of a compressed weight in place of a constant. The last has the constant's name and output.
  private mutating func constant(
    _ message: WireMessage, _ tensor: StoredTensor, _ code: CompressedWeight
  ) throws(FormatError) -> [[UInt8]] {
    let operations = code.operations(tensor.type, tensor.shape, system: system)
    let places = places(tensor, operations)
    var written: [[UInt8]] = []
    for (index, operation) in operations.enumerated() {
      var writer = WireWriter()
      writer.text(Fields.Operation.type, operation.name)
      var stored = places[index][...]
      for (name, input) in operation.inputs {
        func value(_ writer: inout WireWriter) {
          switch input {
          case .stored(let elements):
            Self.type(elements.type, elements.shape, Fields.Value.type, &writer)
            Self.blob(stored.removeFirst(), &writer)
          case .number(let number): Self.number(number, &writer)
          case .sizes(let sizes): Self.sizes(sizes, &writer)
          case .text(let text): Self.text(text, &writer)
          case .output: break
          }
        }
        guard system >= 18 else {
          writer.entry(Fields.Operation.attributes, name, value)
          continue
        }
        writer.entry(Fields.Operation.inputs, name) { argument in
          argument.message(Fields.Argument.arguments) { binding in
            if case .output(let number) = input {
              binding.text(Fields.Binding.name, Self.name(tensor, index - 1, number))
            } else {
              binding.message(Fields.Binding.value, value)
            }
          }
        }
      }
      if index < operations.count - 1 {
        for (number, output) in operation.outputs.enumerated() {
          writer.message(Fields.Operation.outputs) { named in
            named.text(Fields.NamedValueType.name, Self.name(tensor, index, number))
            Self.type(output.type, output.shape, Fields.NamedValueType.type, &named)
          }
        }
        writer.entry(Fields.Operation.attributes, "name") { Self.text(Self.name(tensor, index, 0), &$0) }
      } else {
        var reader = message.fields()
        while let field = try reader.next() {
          switch field.number {
          case Fields.Operation.outputs: writer.copy(field)
          case Fields.Operation.attributes where try field.message().last(Fields.MapEntry.key)?.string() == "name":
            writer.copy(field)
          default: break
          }
        }
      }
      written.append(writer.bytes)
    }
    return written
  }

  /// The name of an output of an operation that computes a part of a weight.
  private static func name(_ tensor: StoredTensor, _ operation: Int, _ output: Int) -> String {
    "\(tensor.name)_part_\(operation)_\(output)"
  }

  /// Returns the places of the operations' elements in the weight file. Constants with one record share them.
  private mutating func places(_ tensor: StoredTensor, _ operations: [ConstantOperation]) -> [[Int]] {
    if let known = coded[tensor.record] { return known }
    var places: [[Int]] = []
    for operation in operations {
      var list: [Int] = []
      for case (_, .stored(let elements)) in operation.inputs {
        list.append(
          elements.bytes.withUnsafeBytes {
            weights.add($0, type: elements.type.blobNumber, bits: elements.count * elements.type.bits)
          })
      }
      places.append(list)
    }
    coded[tensor.record] = places
    return places
  }

  private static func number(_ number: Int, _ writer: inout WireWriter) {
    type(.int32, [], Fields.Value.type, &writer)
    immediate(Fields.TensorValue.ints, &writer) { $0.bytes(Fields.TensorValue.values, [UInt8(number)]) }
  }

  private static func sizes(_ sizes: [Int], _ writer: inout WireWriter) {
    type(.uint32, [sizes.count], Fields.Value.type, &writer)
    immediate(Fields.TensorValue.bytes, &writer) { list in
      list.bytes(
        Fields.TensorValue.values,
        sizes.flatMap { size in withUnsafeBytes(of: UInt32(size).littleEndian) { [UInt8]($0) } })
    }
  }

  private static func text(_ text: String, _ writer: inout WireWriter) {
    type(.string, [], Fields.Value.type, &writer)
    immediate(Fields.TensorValue.strings, &writer) { $0.text(Fields.TensorValue.values, text) }
  }

  private static func immediate(_ kind: Int, _ writer: inout WireWriter, _ list: (inout WireWriter) -> Void) {
    writer.message(Fields.Value.immediateValue) { immediate in
      immediate.message(Fields.ImmediateValue.tensor) { $0.message(kind, list) }
    }
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
