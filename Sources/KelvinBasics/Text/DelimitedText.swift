/// Rows of a CSV file as RFC 4180 has them: fields between commas, quoted where they hold commas, quotes or line breaks. A byte
/// order mark is passed over, lines may end in any way, and empty ones are none.
package struct DelimitedText {
  package struct Fault: Error, Hashable {
    package var line: Int
    package var reason: String
  }

  /// Each with the line that it begins on, from 1.
  package let rows: [(line: Int, fields: [String])]

  /// - Throws: where a quoted field does not end, or something follows it.
  package init(_ text: some Sequence<UInt8>, separator: UInt8 = UInt8(ascii: ",")) throws(Fault) {
    var reader = Reader(separator: separator)
    var bytes = Array(text)[...]
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    for byte in bytes { try reader.read(byte) }
    try reader.finish()
    rows = reader.rows
  }

  /// A field as a row between commas has it.
  package static func field(_ text: String) -> String {
    let separators = ",\"\r\n".unicodeScalars
    guard text.unicodeScalars.contains(where: separators.contains) else { return text }
    var quoted = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { quoted += scalar == "\"" ? [scalar, scalar] : [scalar] }
    return "\"\(String(quoted))\""
  }

  private struct Reader {
    private enum State { case atStart, plain, quoted, behindQuote }

    let separator: UInt8
    var rows: [(line: Int, fields: [String])] = []
    private var state = State.atStart
    private var field: [UInt8] = []
    private var fields: [String] = []
    private var line = 1
    private var firstLine = 1
    private var isBehindReturn = false

    init(separator: UInt8) { self.separator = separator }

    mutating func read(_ byte: UInt8) throws(Fault) {
      let isNewline = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
      // A return and a line feed are one line's end.
      let isSecondHalf = byte == UInt8(ascii: "\n") && isBehindReturn
      isBehindReturn = byte == UInt8(ascii: "\r")
      if isNewline, !isSecondHalf { line += 1 }
      switch state {
      case .quoted:
        if byte == UInt8(ascii: "\"") { state = .behindQuote } else { field.append(byte) }
      case .behindQuote where byte == UInt8(ascii: "\""):
        field.append(byte)
        state = .quoted
      case .atStart where byte == UInt8(ascii: "\""): state = .quoted
      case _ where isSecondHalf: firstLine = line
      case _ where isNewline:
        endField()
        endRow()
      case _ where byte == separator: endField()
      case .behindQuote:
        throw Fault(line: line, reason: "something follows the closing quote of a field")
      case .atStart, .plain:
        field.append(byte)
        state = .plain
      }
    }

    mutating func finish() throws(Fault) {
      guard state != .quoted else { throw Fault(line: firstLine, reason: "a quoted field does not end") }
      endField()
      endRow()
    }

    private mutating func endField() {
      fields.append(String(decoding: field, as: UTF8.self))
      field = []
      state = .atStart
    }

    private mutating func endRow() {
      if fields != [""] { rows.append((firstLine, fields)) }
      fields = []
      firstLine = line
    }
  }
}
