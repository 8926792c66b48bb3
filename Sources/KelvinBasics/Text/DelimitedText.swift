/// All rows of a CSV file, split as by `DelimitedRows`. A byte order mark is skipped. Invalid UTF-8 is represented as
/// in paths (`String.init(pathBytes:)`), so that a field can name any file.
package struct DelimitedText {
  package typealias Fault = DelimitedRows.Fault

  /// The rows, each with the line where it begins, from 1.
  package let rows: [(line: Int, fields: [String])]

  /// - Throws: if a quoted field is not terminated, or is followed by other characters.
  package init(_ text: some Sequence<UInt8>, separator: UInt8 = UInt8(ascii: ",")) throws(Fault) {
    var bytes = Array(text)
    if bytes.starts(with: Self.byteOrderMark) { bytes.removeFirst(Self.byteOrderMark.count) }
    let cut = try DelimitedRows(bytes, separator: separator)
    rows = cut.rows.map { row in
      (
        row.line,
        cut.fields[row.first..<row.first + row.count].map { String(pathBytes: cut.content(of: $0)) }
      )
    }
  }

  /// The optional byte order mark before UTF-8 content.
  package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns a field as written between commas, quoted if needed.
  package static func field(_ text: String) -> String { field(text, isSafe: false) }

  /// Returns a field as written between separators, quoted if needed.
  ///
  /// - Parameter isSafe: whether a field that a spreadsheet would take as a formula begins with an apostrophe. A formula
  ///   begins with `=`, `+`, `-`, `@`, a tab or a carriage return, and is not a number.
  package static func field(
    _ text: String, separator: UInt8 = UInt8(ascii: ","), isSafe: Bool = false
  ) -> String {
    let isFormula = text.utf8.first.map("=+-@\t\r".utf8.contains) ?? false
    if isSafe, isFormula, NumberText.number(text) == nil { return field("'\(text)", separator: separator) }
    let special = ["\"", "\r", "\n", Unicode.Scalar(separator)]
    guard text.unicodeScalars.contains(where: special.contains) else { return text }
    var quoted = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { quoted += scalar == "\"" ? [scalar, scalar] : [scalar] }
    return "\"\(String(quoted))\""
  }
}
