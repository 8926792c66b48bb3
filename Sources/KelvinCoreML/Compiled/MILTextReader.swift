import KelvinGraph
import KelvinImport

/// Reads an ML Program from the text that Core ML compiles it into (`model.mil`):
///
/// ```
/// program    = "program(" version ")" [attributes] "{" {function} "}"
/// function   = "func" name "<" operator set ">" "(" [inputs] ")" [attributes] block ";"
/// block      = "{" {operation} "}" "->" "(" [names] ")"
/// operation  = [outputs "="] kind "(" [arguments] ")" [attributes] {["(" inputs ")"] block} ";"
/// outputs    = type name {"," type name}, in brackets or not
/// argument   = name "=" (binding | "(" binding {"," binding} ")")
/// binding    = name | value
/// attributes = "[" name "=" value {"," name "=" value} "]"
/// ```
///
/// `MILTextReader+Values` reads types and values. A semicolon after a block may be missing, or a comma may take its
/// place.
struct MILTextReader {
  var scanner: MILTextScanner
  /// The greatest nesting depth of brackets and blocks.
  static let depthLimit = 100
  private var operationCount = 0

  init(_ text: Bytes, file: String) { scanner = MILTextScanner(text, file: file) }

  mutating func program() throws(FormatError) -> MILProgram {
    try scanner.expect("program")
    try scanner.skipBrackets()
    try skipAttributes()
    try scanner.expect("{")
    var program = MILProgram()
    while !scanner.accept("}") {
      let start = scanner.position
      try scanner.expect("func")
      let name = try name("a function's name")
      guard program.functions.count < 1 << 12 else { throw scanner.error("there are too many functions", at: start) }
      guard program.functions.updateValue(try function(), forKey: name) == nil else {
        throw scanner.error("there are two functions '\(name)'", at: start)
      }
    }
    guard scanner.next == nil else { throw scanner.unexpected("the end") }
    return program
  }

  private mutating func function() throws(FormatError) -> MILFunction {
    try scanner.expect("<")
    let opset = Self.opset(try name("an operator set"))
    try scanner.expect(">")
    try scanner.expect("(")
    let inputs = try inputs()
    try skipAttributes()
    let block = try block(inputs: [], depth: 0)
    _ = scanner.accept(";")
    return MILFunction(inputs: inputs, opset: opset, block: block)
  }

  /// Returns the name that specifications give an operator set. The text names the version of iOS that introduced the
  /// set; version 26 follows 18.
  private static func opset(_ name: String) -> String {
    guard name.hasPrefix("ios"), let version = Int(name.dropFirst(3)) else { return name }
    return "CoreML\(version >= 26 ? version - 17 : version - 10)"
  }

  private mutating func block(inputs: [MILNamedType], depth: Int) throws(FormatError) -> MILBlock {
    guard depth < Self.depthLimit else {
      throw scanner.error("blocks are nested more than \(Self.depthLimit) deep", at: scanner.position)
    }
    try scanner.expect("{")
    var block = MILBlock()
    block.inputs = inputs
    while !scanner.accept("}") {
      operationCount += 1
      guard operationCount <= WireMessage.operationLimit else {
        throw scanner.error("there are more than \(WireMessage.operationLimit) operations", at: scanner.position)
      }
      block.operations.append(try operation(index: block.operations.count, depth: depth))
    }
    try scanner.expect("->")
    try scanner.expect("(")
    while !scanner.accept(")") {
      try separate(block.outputs.isEmpty)
      block.outputs.append(try name("a block's output"))
    }
    return block
  }

  private mutating func operation(index: Int, depth: Int) throws(FormatError) -> MILOperation {
    let start = scanner.position
    let outputs = try outputs()
    let kind = try name("an operation")
    try scanner.expect("(")
    var arguments: [String: [MILOperation.Binding]] = [:]
    while !scanner.accept(")") {
      try separate(arguments.isEmpty)
      let place = scanner.position
      let argument = try name("an argument's name")
      try scanner.expect("=")
      guard arguments.updateValue(try bindings(), forKey: argument) == nil else {
        throw scanner.error("'\(argument)' is given twice", at: place)
      }
    }
    var attributes: [String: MILValue] = [:]
    if scanner.accept("[") {
      while !scanner.accept("]") {
        try separate(attributes.isEmpty)
        let attribute = try name("an attribute's name")
        try scanner.expect("=")
        attributes[attribute] = try value()
      }
    }
    var blocks: [MILBlock] = []
    while startsBlock {
      var inputs: [MILNamedType] = []
      if scanner.accept("(") { inputs = try self.inputs() }
      blocks.append(try block(inputs: inputs, depth: depth + 1))
      _ = scanner.accept(";") || scanner.accept(",")
    }
    if blocks.isEmpty { try scanner.expect(";") }
    return try MILOperation(
      kind: kind, inputs: arguments, outputs: outputs, blocks: blocks, attributes: attributes, index: index,
      file: scanner.file, offset: start)
  }

  /// Reads the outputs of an operation; an operation without outputs begins with its kind.
  private mutating func outputs() throws(FormatError) -> [MILNamedType] {
    var ahead = scanner
    if try ahead.word() != nil, ahead.next == "(" { return [] }
    var outputs: [MILNamedType] = []
    let isBracketed = scanner.accept("(")
    repeat {
      outputs.append(MILNamedType(type: try type(), name: try name("an output's name")))
    } while scanner.accept(",")
    if isBracketed { try scanner.expect(")") }
    try scanner.expect("=")
    return outputs
  }

  /// Whether a block comes next, as opposed to an operation with its outputs in parentheses.
  private var startsBlock: Bool {
    guard scanner.next == "(" else { return scanner.next == "{" }
    var ahead = scanner
    do throws(FormatError) { try ahead.skipBrackets() } catch { return false }
    return ahead.next == "{"
  }

  /// Reads types and names up to a closing parenthesis.
  private mutating func inputs() throws(FormatError) -> [MILNamedType] {
    var inputs: [MILNamedType] = []
    while !scanner.accept(")") {
      try separate(inputs.isEmpty)
      guard inputs.count < WireMessage.operandLimit else {
        throw scanner.error("there are more than \(WireMessage.operandLimit) inputs", at: scanner.position)
      }
      inputs.append(MILNamedType(type: try type(), name: try name("an input's name")))
    }
    return inputs
  }

  private mutating func bindings() throws(FormatError) -> [MILOperation.Binding] {
    guard scanner.accept("(") else { return [try binding()] }
    var bindings: [MILOperation.Binding] = []
    while !scanner.accept(")") {
      try separate(bindings.isEmpty)
      guard bindings.count < WireMessage.operandLimit else {
        throw scanner.error("there are more than \(WireMessage.operandLimit) values", at: scanner.position)
      }
      bindings.append(try binding())
    }
    return bindings
  }

  private mutating func binding() throws(FormatError) -> MILOperation.Binding {
    var ahead = scanner
    guard let name = try ahead.word() else { throw scanner.unexpected("a value or its name") }
    guard ahead.next != "<", ahead.next != "(" else { return .value(try value()) }
    scanner = ahead
    return .name(name)
  }

  /// Skips the attributes of a program or a function: the tools that made it, and its shapes.
  private mutating func skipAttributes() throws(FormatError) {
    if scanner.next == "[" { try scanner.skipBrackets() }
  }

  /// Reads the comma that precedes every element of a list but the first.
  mutating func separate(_ isFirst: Bool) throws(FormatError) {
    if !isFirst { try scanner.expect(",") }
  }

  mutating func name(_ what: String) throws(FormatError) -> String {
    guard let word = try scanner.word() else { throw scanner.unexpected(what) }
    return word
  }
}
