import KelvinGraph
import KelvinImport

struct MILProgram {
  var functions: [String: MILFunction] = [:]

  init() {}

  init(_ message: WireMessage) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      guard field.number == MILSchema.Program.functions else { continue }
      try field.check(functions.count, 1 << 12)
      let (name, value) = try field.message().mapEntry()
      if let value { functions[name] = try MILFunction(value.message()) }
    }
  }

  /// The paths of the weight files, relative to the model's folder.
  var blobFiles: [String] {
    var files = Set<String>()
    for function in functions.values {
      for operation in function.block.operations {
        for value in operation.attributes.values { value.blob.map { _ = files.insert($0.file) } }
        for case .value(let value) in operation.inputs.values.joined() { value.blob.map { _ = files.insert($0.file) } }
      }
    }
    return files.sorted()
  }
}

/// A function: its inputs, and the block for its operator set.
struct MILFunction {
  var inputs: [MILNamedType] = []
  var opset = ""
  var block = MILBlock()

  init(inputs: [MILNamedType], opset: String, block: MILBlock) {
    self.inputs = inputs
    self.opset = opset
    self.block = block
  }

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = MILSchema.Function
    var blocks: [(name: String, block: WireField)] = []
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.inputs:
        try field.check(inputs.count, WireMessage.operandLimit)
        inputs.append(try MILNamedType(field.message()))
      case Fields.opset: opset = try field.name()
      case Fields.blockSpecializations:
        try field.check(blocks.count, 1000)
        let (name, value) = try field.message().mapEntry()
        if let value { blocks.append((name, value)) }
      default: break
      }
    }
    let opset = opset
    guard let chosen = blocks.first(where: { $0.name == opset }) else {
      throw FormatError(
        .malformed, file: message.file, offset: message.offset,
        "a function for '\(opset)' has no block for it (\(blocks.map { "'\($0.name)'" }.joined(separator: ", ")))")
    }
    block = try MILBlock(chosen.block.message())
  }

  /// The version of iOS that introduced the operator set: 16 for `CoreML6`, for example. Nil for a name of another
  /// form.
  var version: Int? {
    guard opset.hasPrefix("CoreML"), let number = Int(opset.dropFirst(6)), (1..<100).contains(number) else {
      return nil
    }
    return number + 10
  }

  /// The prefix of operation names.
  var prefix: String { version.map { "ios\($0)" } ?? opset.lowercased() }

  var structure: SourceBlock {
    var structure = block.structure(prefix: prefix)
    structure.inputs = inputs.map(\.name)
    structure.inputTypes = inputs.map(\.type.source)
    return structure
  }
}

struct MILBlock {
  var inputs: [MILNamedType] = []
  var outputs: [String] = []
  var operations: [MILOperation] = []

  init() {}

  init(_ message: WireMessage) throws(FormatError) {
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case MILSchema.Block.inputs:
        try field.check(inputs.count, WireMessage.operandLimit)
        inputs.append(try MILNamedType(field.message()))
      case MILSchema.Block.outputs: try field.appendName(to: &outputs)
      case MILSchema.Block.operations:
        try field.check(operations.count, WireMessage.operationLimit)
        operations.append(try MILOperation(field.message(), index: operations.count))
      default: break
      }
    }
  }

  func structure(prefix: String) -> SourceBlock {
    var structure = SourceBlock(
      inputs: inputs.map(\.name), outputs: outputs,
      operations: operations.map { operation in
        let inputs = operation.inputs.sorted { $0.key < $1.key }
        var structure = SourceOperation(
          // Core ML names constants without an operator set.
          name: operation.name, kind: operation.kind == "const" ? operation.kind : "\(prefix).\(operation.kind)",
          inputs: inputs.flatMap { $0.value.compactMap(\.name) },
          arguments: inputs.map { SourceOperation.Argument(name: $0.key, values: $0.value.map(\.name)) },
          outputs: operation.outputs.map(\.name), blocks: operation.blocks.map { $0.structure(prefix: prefix) })
        structure.outputTypes = operation.outputs.map(\.type.source)
        return structure
      })
    structure.inputTypes = inputs.map(\.type.source)
    return structure
  }
}

struct MILOperation {
  /// The binding of an input: the name of a value, or a value itself.
  enum Binding {
    case name(String)
    case value(MILValue)

    var name: String? {
      if case .name(let name) = self { name } else { nil }
    }
  }

  let kind: String
  var inputs: [String: [Binding]]
  var outputs: [MILNamedType]
  var blocks: [MILBlock]
  let attributes: [String: MILValue]
  let index: Int
  let offset: Int
  /// The `name` attribute, or the first output's name.
  let name: String
  /// Whether the operation is control flow that the host must execute (`DynamicShapeControlFlow`).
  var mustRunOnHost = false
  /// Whether the operation writes to a list that grows if the element is beyond its end.
  var growsList = false

  init(
    kind: String, inputs: [String: [Binding]], outputs: [MILNamedType], blocks: [MILBlock],
    attributes: [String: MILValue], index: Int, file: String, offset: Int
  ) throws(FormatError) {
    self.kind = kind
    self.inputs = inputs
    self.outputs = outputs
    self.blocks = blocks
    self.attributes = attributes
    self.index = index
    self.offset = offset
    let given = try attributes["name"]?.strings().first ?? ""
    guard given.utf8.count <= WireMessage.nameLimit else {
      throw FormatError(
        .malformed, file: file, offset: offset,
        "an operation's name has \(given.utf8.count) bytes, expected at most \(WireMessage.nameLimit)")
    }
    name = given.isEmpty ? outputs.first?.name ?? "\(kind)_\(index)" : given
  }

  init(_ message: WireMessage, index: Int) throws(FormatError) {
    typealias Fields = MILSchema.Operation
    var kind = ""
    var inputs: [String: [Binding]] = [:]
    var outputs: [MILNamedType] = []
    var blocks: [MILBlock] = []
    var attributes: [String: MILValue] = [:]
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.type: kind = try field.name()
      case Fields.inputs:
        try field.check(inputs.count, WireMessage.operandLimit)
        let (name, value) = try field.message().mapEntry()
        if let value { inputs[name] = try Self.bindings(value.message()) }
      case Fields.outputs:
        try field.check(outputs.count, WireMessage.operandLimit)
        outputs.append(try MILNamedType(field.message()))
      case Fields.blocks:
        try field.check(blocks.count, WireMessage.operandLimit)
        blocks.append(try MILBlock(field.message()))
      case Fields.attributes:
        try field.check(attributes.count, WireMessage.operandLimit)
        let (name, value) = try field.message().mapEntry()
        if let value { attributes[name] = try MILValue(value.message()) }
      default: break
      }
    }
    try self.init(
      kind: kind, inputs: inputs, outputs: outputs, blocks: blocks, attributes: attributes, index: index,
      file: message.file, offset: message.offset)
  }

  private static func bindings(_ message: WireMessage) throws(FormatError) -> [Binding] {
    var bindings: [Binding] = []
    var reader = message.fields()
    while let field = try reader.next() {
      guard field.number == MILSchema.Argument.arguments else { continue }
      try field.check(bindings.count, WireMessage.operandLimit)
      var binding = try field.message().fields()
      while let part = try binding.next() {
        if part.number == MILSchema.Argument.Binding.name { bindings.append(.name(try part.name())) }
        if part.number == MILSchema.Argument.Binding.value { bindings.append(.value(try MILValue(part.message()))) }
      }
    }
    return bindings
  }
}
