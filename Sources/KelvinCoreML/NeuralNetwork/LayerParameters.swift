import KelvinGraph
import KelvinImport

/// The parameters of a layer: a message whose fields are read on demand. An absent number is nil.
struct LayerParameters: Sendable {
  let message: WireMessage

  init(_ message: WireMessage) { self.message = message }

  func integer(_ number: Int) throws(FormatError) -> Int? { try last(number)?.integer() }

  /// Returns an integer field for which the format defines that 0 and absence mean a default.
  func integer(_ number: Int, default value: Int) throws(FormatError) -> Int {
    guard let integer = try integer(number), integer != 0 else { return value }
    return integer
  }

  func number(_ number: Int) throws(FormatError) -> Float? { try last(number)?.float() }

  /// Returns a number field for which the format defines that 0 and absence mean a default.
  func number(_ number: Int, default value: Float) throws(FormatError) -> Float {
    guard let found = try self.number(number), found != 0 else { return value }
    return found
  }

  func double(_ number: Int) throws(FormatError) -> Double? { try last(number)?.double() }
  func flag(_ number: Int) throws(FormatError) -> Bool { try last(number)?.bool() ?? false }
  func text(_ number: Int) throws(FormatError) -> String { try last(number)?.name() ?? "" }

  func integers(_ number: Int, limit: Int = 1024) throws(FormatError) -> [Int] {
    var list: [Int] = []
    try each(number) { (field) throws(FormatError) in try field.append(to: &list, limit: limit) }
    return list
  }

  func flags(_ number: Int) throws(FormatError) -> [Bool] { try integers(number).map { $0 != 0 } }

  func numbers(_ number: Int, limit: Int = 1 << 26) throws(FormatError) -> [Float] {
    var list: [Float] = []
    try each(number) { (field) throws(FormatError) in try field.append(to: &list, limit: limit) }
    return list
  }

  func doubles(_ number: Int, limit: Int = WireMessage.countLimit) throws(FormatError) -> [Double] {
    var list: [Double] = []
    try each(number) { (field) throws(FormatError) in try field.append(to: &list, limit: limit) }
    return list
  }

  func message(_ number: Int) throws(FormatError) -> LayerParameters? {
    try last(number).map { (field) throws(FormatError) in LayerParameters(try field.message()) }
  }

  func messages(_ number: Int) throws(FormatError) -> [LayerParameters] {
    var list: [WireMessage] = []
    try each(number) { (field) throws(FormatError) in
      try field.check(list.count, WireMessage.operandLimit)
      list.append(try field.message())
    }
    return list.map(LayerParameters.init)
  }

  /// Returns the number of the oneof field that is set: the last one in the message.
  func choice(among numbers: Set<Int>) throws(FormatError) -> Int? {
    var found: Int?
    var reader = message.fields()
    while let field = try reader.next() {
      if numbers.contains(field.number) { found = field.number }
    }
    return found
  }

  /// Returns a string of any length; empty if the field is absent.
  func string(_ number: Int) throws(FormatError) -> String { try last(number)?.string() ?? "" }
  func bytes(_ number: Int) throws(FormatError) -> Bytes? { try last(number)?.bytes() }

  private func last(_ number: Int) throws(FormatError) -> WireField? {
    var found: WireField?
    try each(number) { found = $0 }
    return found
  }

  func each(_ number: Int, _ body: (WireField) throws(FormatError) -> Void) throws(FormatError) {
    try message.each(number, body)
  }
}
