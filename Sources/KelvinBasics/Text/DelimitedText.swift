/// Rows of a CSV file, all at once, as `DelimitedRows` cuts them. A byte order mark is passed over; bytes that are not UTF-8 are
/// kept as paths have them, so that a field may name any file.
package struct DelimitedText {
  package typealias Fault = DelimitedRows.Fault

  /// Each with the line that it begins on, from 1.
  package let rows: [(line: Int, fields: [String])]

  /// - Throws: where a quoted field does not end, or something follows it.
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

  /// What may stand before a text in UTF-8.
  package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// A field as a row between commas has it.
  package static func field(_ text: String) -> String { field(text, separator: UInt8(ascii: ",")) }

  /// A field as a row between separators has it.
  package static func field(_ text: String, separator: UInt8) -> String {
    let special = ["\"", "\r", "\n", Unicode.Scalar(separator)]
    guard text.unicodeScalars.contains(where: special.contains) else { return text }
    var quoted = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { quoted += scalar == "\"" ? [scalar, scalar] : [scalar] }
    return "\"\(String(quoted))\""
  }
}
