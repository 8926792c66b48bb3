import KelvinGraph
import KelvinImport

/// Reads types and values:
///
/// ```
/// type    = scalar | "tensor<" scalar ", [" sizes "]>" | "state<" type ">" | "list<" type "," size ">"
///         | "tuple<" {type} ">" | "dict<" type "," type ">"
/// value   = type "(" content ")"
/// content = "BLOBFILE(path =" value ", offset =" value ")" | element | "[" elements "]" | "(" contents ")" | "{" pairs "}"
/// ```
///
/// The brackets of a tensor are nested as deeply as it has axes. A question mark stands for an unknown size. Numbers
/// that are not integers are hexadecimal, in the notation of C.
extension MILTextReader {
  mutating func type() throws(FormatError) -> MILType { try type(depth: 0) }

  private mutating func type(depth: Int) throws(FormatError) -> MILType {
    let start = scanner.position
    guard depth < Self.depthLimit else { throw scanner.error("types are nested too deeply", at: start) }
    let word = try name("a type")
    switch word {
    case "tensor":
      try scanner.expect("<")
      var type = try scalar(name("an element type"), at: start)
      try scanner.expect(",")
      try scanner.expect("[")
      while !scanner.accept("]") {
        try separate(type.sizes.isEmpty)
        guard type.sizes.count < Emitter.rankLimit else {
          throw scanner.error("a tensor has more than \(Emitter.rankLimit) axes", at: start)
        }
        type.sizes.append(scanner.accept("?") ? nil : try size())
      }
      try scanner.expect(">")
      return type
    case "state":
      try scanner.expect("<")
      var type = try type(depth: depth + 1)
      type.isState = true
      try scanner.expect(">")
      return type
    case "list", "tuple", "dict":
      try scanner.expect("<")
      while !scanner.accept(">") {
        if scanner.accept(",") || scanner.accept("?") { continue }
        // The second argument of a list type is its length.
        if let next = scanner.next, ("0"..."9").contains(next) {
          _ = try size()
        } else {
          _ = try type(depth: depth + 1)
        }
      }
      return MILType()
    default: return try scalar(word, at: start)
    }
  }

  private func scalar(_ name: String, at start: Int) throws(FormatError) -> MILType {
    guard let number = Self.dataTypes[name] else {
      throw scanner.error("the element type '\(name)' is not known", at: start, .unsupported)
    }
    var type = MILType()
    type.dataType = number
    return type
  }

  private mutating func size() throws(FormatError) -> Int {
    let start = scanner.position
    guard let size = scanner.number().flatMap({ Int($0) }), size >= 0 else {
      throw scanner.error("expected a size", at: start)
    }
    return size
  }

  mutating func value() throws(FormatError) -> MILValue { try value(depth: 0) }

  private mutating func value(depth: Int) throws(FormatError) -> MILValue {
    let start = scanner.position
    guard depth < Self.depthLimit else { throw scanner.error("values are nested too deeply", at: start) }
    let type = try type()
    try scanner.expect("(")
    var value = MILValue(type, file: scanner.file, offset: start)
    if scanner.accept("BLOBFILE") {
      value.blob = try blob(depth: depth)
    } else {
      value.literal = try literal(depth: depth)
    }
    try scanner.expect(")")
    return value
  }

  private mutating func blob(depth: Int) throws(FormatError) -> MILValue.Blob {
    try scanner.expect("(")
    var (path, offset): (String?, Int?)
    repeat {
      let start = scanner.position
      let name = try name("'path' or 'offset'")
      try scanner.expect("=")
      let given = try value(depth: depth + 1)
      switch (name, given.literal) {
      case ("path", .strings(let strings)?): path = strings.first
      case ("offset", .integers(let integers)?): offset = integers.first
      default: throw scanner.error("'\(name)' is not an attribute of a weight file", at: start)
      }
    } while scanner.accept(",")
    guard let path, let offset else { throw scanner.unexpected("'path' and 'offset'") }
    try scanner.expect(")")
    return MILValue.Blob(path: path, offset: offset)
  }

  /// Reads the content between the parentheses of a value.
  private mutating func literal(depth: Int) throws(FormatError) -> MILLiteral {
    switch scanner.next {
    case "{":
      try scanner.skipBrackets()
      return .none
    case "(": return .list(try list(depth: depth))
    case ")": return .none
    default:
      var elements = MILElements()
      try read(&elements, depth: depth)
      return elements.literal
    }
  }

  /// Reads the values of a list: typed values, or bare elements.
  private mutating func list(depth: Int) throws(FormatError) -> [MILValue] {
    try scanner.expect("(")
    var values: [MILValue] = []
    while !scanner.accept(")") {
      try separate(values.isEmpty)
      let start = scanner.position
      guard values.count < WireMessage.countLimit else {
        throw scanner.error("a list has more than \(WireMessage.countLimit) values", at: start)
      }
      var ahead = scanner
      if try ahead.word() != nil, ahead.next == "<" || ahead.next == "(" {
        values.append(try value(depth: depth + 1))
      } else {
        guard depth < Self.depthLimit else { throw scanner.error("values are nested too deeply", at: start) }
        var value = MILValue(MILType(), file: scanner.file, offset: start)
        value.literal = try literal(depth: depth + 1)
        values.append(value)
      }
    }
    return values
  }

  private mutating func read(_ elements: inout MILElements, depth: Int) throws(FormatError) {
    let start = scanner.position
    guard depth < Self.depthLimit else { throw scanner.error("brackets are nested too deeply", at: start) }
    if scanner.accept("[") {
      var isFirst = true
      while !scanner.accept("]") {
        try separate(isFirst)
        isFirst = false
        try read(&elements, depth: depth + 1)
      }
    } else if scanner.next == "\"" {
      elements.strings.append(try scanner.string())
    } else {
      guard let number = scanner.number() else { throw scanner.unexpected("an element") }
      guard elements.append(number) else { throw scanner.error("'\(number)' is not a valid number", at: start) }
    }
  }

  /// The numbers of element types by their names in the text.
  private static let dataTypes: [String: Int] = {
    typealias Number = MILSchema.DataType
    return [
      "bool": Number.bool, "string": Number.string, "fp16": Number.float16, "fp32": Number.float32,
      "fp64": Number.float64, "bf16": Number.bfloat16, "int4": Number.int4, "int8": Number.int8, "int16": Number.int16,
      "int32": Number.int32, "int64": Number.int64, "uint1": Number.uint1, "uint2": Number.uint2, "uint3": Number.uint3,
      "uint4": Number.uint4, "uint6": Number.uint6, "uint8": Number.uint8, "uint16": Number.uint16,
      "uint32": Number.uint32, "uint64": Number.uint64, "fp8e4m3fn": Number.float8e4m3fn, "fp8e5m2": Number.float8e5m2,
    ]
  }()
}

/// The elements of one tensor, in the order in which they are read.
private struct MILElements {
  var strings: [String] = []
  private var integers: [Int] = []
  private var numbers: [Double] = []
  private var areWhole = true

  /// Appends an element.
  ///
  /// - Returns: Whether the string is a number.
  mutating func append(_ text: String) -> Bool {
    if areWhole, let integer = text == "true" ? 1 : text == "false" ? 0 : Int(text) {
      integers.append(integer)
      return true
    }
    guard let number = text == "true" ? 1 : text == "false" ? 0 : Double(text) else { return false }
    if areWhole { numbers = integers.map(Double.init) }
    areWhole = false
    numbers.append(number)
    return true
  }

  var literal: MILLiteral {
    if !strings.isEmpty { return .strings(strings) }
    return areWhole ? .integers(integers) : .numbers(numbers)
  }
}
