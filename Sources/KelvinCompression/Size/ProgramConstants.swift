import KelvinBasics
import KelvinGraph
import KelvinImport

/// Reads the constants of an ML Program's message.
struct ProgramConstants {
  /// Constants in the program with fewer bytes belong to its structure.
  static let leastInlineCount = 1024

  private let files: WeightFiles
  private let program: ExactString
  /// The folder of the program in the model, with a trailing slash unless it is the model's own.
  private let prefix: String
  private(set) var list: ShippedTensors
  private var constants = ConstantTensors()

  /// - Parameters:
  ///   - message: A `Program` message.
  ///   - files: The weight files beside the program.
  ///   - program: The name of the program's file in the model.
  ///   - list: The tensors so far.
  init(
    _ message: WireMessage, _ files: WeightFiles, program: String, addingTo list: ShippedTensors = ShippedTensors()
  ) throws(FormatError) {
    (self.files, self.list) = (files, list)
    self.program = ExactString(program)
    let folder = program.parentPath
    prefix = folder == "." ? "" : "\(folder)/"
    try message.each(Fields.Program.functions) { (entry) throws(FormatError) in
      constants = ConstantTensors()
      try entry.message().last(Fields.MapEntry.value)?.message().each(Fields.Function.blockSpecializations) {
        (block) throws(FormatError) in
        if let block = try block.message().last(Fields.MapEntry.value) { try read(block.message()) }
      }
      constants.finish(&self.list, program: self.program, least: Self.leastInlineCount)
    }
  }

  private mutating func read(_ block: WireMessage) throws(FormatError) {
    try block.each(Fields.Block.operations) { (field) throws(FormatError) in
      let message = try field.message()
      constants.add(try operation(message))
      try message.each(Fields.Operation.blocks) { (inner) throws(FormatError) in try read(inner.message()) }
    }
  }

  private func operation(_ message: WireMessage) throws(FormatError) -> ProgramOperation {
    var kind = ""
    var outputs: [(name: String, shape: [Int])] = []
    var operands: [(key: String, value: ProgramOperation.Operand)] = []
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.Operation.type: kind = try field.string()
      case Fields.Operation.outputs:
        let output = try field.message()
        let type = try output.last(Fields.NamedValueType.type)?.message()
        outputs.append((try output.last(Fields.NamedValueType.name)?.string() ?? "", try Self.type(type)?.shape ?? []))
      case Fields.Operation.inputs:
        let entry = try field.message()
        let key = try entry.last(Fields.MapEntry.key)?.string() ?? ""
        try entry.last(Fields.MapEntry.value)?.message().each(Fields.Argument.arguments) {
          (binding) throws(FormatError) in
          let binding = try binding.message()
          if let name = try binding.last(Fields.Binding.name)?.string() {
            operands.append((key, .name(ExactString(name))))
          } else if let value = try binding.last(Fields.Binding.value)?.message(), let constant = try constant(value) {
            operands.append((key, .constant(constant)))
          }
        }
      case Fields.Operation.attributes:
        let entry = try field.message()
        let key = try entry.last(Fields.MapEntry.key)?.string() ?? ""
        if key != "name", let value = try entry.last(Fields.MapEntry.value)?.message(),
          let constant = try constant(value)
        {
          operands.append((key, .constant(constant)))
        }
      default: break
      }
    }
    return ProgramOperation(kind: kind, outputs: outputs, operands: operands)
  }

  /// Returns a `Value` that is a tensor; nil for others.
  private func constant(_ value: WireMessage) throws(FormatError) -> ProgramOperation.Constant? {
    guard let type = try Self.type(value.last(Fields.Value.type)?.message()) else { return nil }
    let part: ShippedTensor.Part
    if let blob = try value.last(Fields.Value.blobFileValue)?.message() {
      let found = try files.record(blob)
      part = .init(
        file: ExactString(prefix + found.file), offset: found.position, byteCount: found.record.elements.count)
    } else if let immediate = try value.last(Fields.Value.immediateValue)?.message() {
      part = .init(file: program, offset: immediate.offset, byteCount: immediate.bytes.count)
    } else {
      return nil
    }
    return .init(type: type.name, shape: type.shape, part: part)
  }

  /// Returns the element type and the shape of a `ValueType`; nil if it is not a tensor's.
  private static func type(_ message: WireMessage?) throws(FormatError) -> (name: String, shape: [Int])? {
    guard let tensor = try message?.last(Fields.ValueType.tensorType)?.message() else { return nil }
    var shape: [Int] = []
    try tensor.each(Fields.TensorType.dimensions) { (field) throws(FormatError) in
      let constant = try field.message().last(Fields.Dimension.constant)?.message()
      shape.append(try constant?.last(Fields.Dimension.size)?.integer() ?? 0)
    }
    let number = try tensor.last(Fields.TensorType.dataType)?.integer() ?? 0
    return (elementTypes[number] ?? "type \(number)", shape)
  }

  /// The names of element types by their numbers in MIL.proto.
  private static let elementTypes: [Int: String] = [
    1: "bool", 2: "string", 10: "float16", 11: "float32", 12: "float64", 13: "bfloat16", 21: "int8", 22: "int16",
    23: "int32", 24: "int64", 25: "int4", 31: "uint8", 32: "uint16", 33: "uint32", 34: "uint64", 35: "uint4",
    36: "uint2", 37: "uint1", 38: "uint6", 39: "uint3", 40: "float8e4m3fn", 41: "float8e5m2",
  ]
}
