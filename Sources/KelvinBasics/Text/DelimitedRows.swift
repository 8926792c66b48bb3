import Glibc

/// CSV rows split into fields, which refer to the original bytes.
///
/// Fields are separated by separators, and quoted if they contain separators, quotes or line breaks (RFC 4180). All
/// kinds of line ends are accepted; empty lines are not rows.
package struct DelimitedRows {
  /// The range of a field's bytes, without enclosing quotes.
  package struct Field: Hashable, Sendable {
    package let start: Int32
    package let end: Int32
    /// Whether it contains doubled quotes.
    package let hasEscapes: Bool
  }

  package struct Row: Hashable, Sendable {
    /// The line where the row begins.
    package let line: Int
    /// The index of its first field among the fields of all rows.
    package let first: Int
    package let count: Int
  }

  package struct Fault: Error, Hashable {
    package var line: Int
    package var reason: String
  }

  package let bytes: [UInt8]
  package private(set) var fields: [Field] = []
  package private(set) var rows: [Row] = []

  /// - Parameters:
  ///   - bytes: complete rows of less than 2 GiB; the last row may lack its line end.
  ///   - firstLine: the number of the first line.
  /// - Throws: if a quoted field is not terminated, or is followed by other characters.
  package init(_ bytes: [UInt8], separator: UInt8 = UInt8(ascii: ","), firstLine: Int = 1) throws(Fault) {
    self.bytes = bytes
    fields.reserveCapacity(bytes.count / 8)
    try cut(separator, firstLine)
  }

  /// Passes a field's raw bytes, which are its content unless it contains doubled quotes.
  package func withBytes<Result>(of field: Field, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[Int(field.start)..<Int(field.end)])) }
  }

  /// Returns the content of a field.
  package func content(of field: Field) -> [UInt8] {
    let raw = bytes[Int(field.start)..<Int(field.end)]
    guard field.hasEscapes else { return Array(raw) }
    var content: [UInt8] = []
    var isSecond = false
    for byte in raw {
      isSecond = byte == UInt8(ascii: "\"") && !isSecond
      if byte != UInt8(ascii: "\"") || isSecond { content.append(byte) }
    }
    return content
  }

  /// Returns the content of a field as a string; nil if it is not UTF-8.
  package func text(of field: Field) -> String? { String(validating: content(of: field), as: UTF8.self) }

  private mutating func cut(_ separator: UInt8, _ firstLine: Int) throws(Fault) {
    let (quote, feed, carriage) = (UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    var (found, cutRows): ([Field], [Row]) = ([], [])
    swap(&found, &fields)
    let fault = bytes.withUnsafeBufferPointer { bytes -> Fault? in
      let end = bytes.count
      var place = 0
      var (line, rowLine, rowStart) = (firstLine, firstLine, 0)
      while place < end {
        // The start of a field.
        let start = place
        var field: Field
        if bytes[place] == quote {
          place += 1
          var hasEscapes = false
          while true {
            while place < end, bytes[place] != quote {
              if bytes[place] == feed || bytes[place] == carriage && !(place + 1 < end && bytes[place + 1] == feed) {
                line += 1
              }
              place += 1
            }
            guard place < end else { return Fault(line: rowLine, reason: "a quoted field does not end") }
            guard place + 1 < end, bytes[place + 1] == quote else { break }
            hasEscapes = true
            place += 2
          }
          field = Field(start: Int32(start + 1), end: Int32(place), hasEscapes: hasEscapes)
          place += 1
          guard place == end || bytes[place] == separator || bytes[place] == feed || bytes[place] == carriage else {
            return Fault(line: line, reason: "something follows the closing quote of a field")
          }
        } else {
          while place < end {
            let byte = bytes[place]
            if byte == separator || byte == feed || byte == carriage { break }
            place += 1
          }
          field = Field(start: Int32(start), end: Int32(place), hasEscapes: false)
        }
        if place < end, bytes[place] == separator {
          found.append(field)
          place += 1
          if place < end { continue }
          // A separator at the very end is followed by an empty field.
          field = Field(start: Int32(place), end: Int32(place), hasEscapes: false)
        }
        // The end of a row.
        let isEmpty = found.count == rowStart && place == start
        if !isEmpty {
          found.append(field)
          cutRows.append(Row(line: rowLine, first: rowStart, count: found.count - rowStart))
          rowStart = found.count
        }
        if place < end {
          place += bytes[place] == carriage && place + 1 < end && bytes[place + 1] == feed ? 2 : 1
          line += 1
          rowLine = line
        }
      }
      return nil
    }
    if let fault { throw fault }
    (fields, rows) = (found, cutRows)
  }
}
