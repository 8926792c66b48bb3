import KelvinGraph
import KelvinImport

/// A scanner for the words, numbers and strings in the text of an ML Program. White space, and comments from `//` to
/// the end of a line, may separate them.
struct MILTextScanner {
  let file: String
  private let names = NameRegister()
  /// The position after the last byte read.
  private var end = 0
  private let text: [UInt8]

  init(_ bytes: Bytes, file: String) {
    text = bytes.withUnsafeBytes { Array($0) }
    self.file = file
  }

  /// The position of the next character that is neither white space nor in a comment.
  var position: Int {
    var place = end
    while place < text.count {
      if text[place] <= UInt8(ascii: " ") {
        place += 1
      } else if text[place] == UInt8(ascii: "/"), place + 1 < text.count, text[place + 1] == UInt8(ascii: "/") {
        while place < text.count, text[place] != UInt8(ascii: "\n") { place += 1 }
      } else {
        break
      }
    }
    return place
  }

  /// The next character; nil at the end.
  var next: Unicode.Scalar? { byte(position).map { Unicode.Scalar($0) } }

  private func byte(_ place: Int) -> UInt8? { place < text.count ? text[place] : nil }

  /// Reads the given characters if they come next.
  mutating func accept(_ characters: StaticString) -> Bool {
    let start = position
    let count = characters.utf8CodeUnitCount
    guard start + count <= text.count else { return false }
    let expected = UnsafeBufferPointer(start: characters.utf8Start, count: count)
    guard text[start..<start + count].elementsEqual(expected) else { return false }
    end = start + count
    return true
  }

  mutating func expect(_ characters: StaticString) throws(FormatError) {
    guard accept(characters) else { throw unexpected("'\(characters)'") }
  }

  /// Reads a name or a keyword: letters, digits and the other characters that names of values may contain. Returns nil
  /// if no such character comes next.
  mutating func word() throws(FormatError) -> String? {
    let start = position
    var place = start
    while let byte = byte(place), Self.isOfWord(byte) { place += 1 }
    guard place > start else { return nil }
    guard place - start <= WireMessage.nameLimit else {
      throw error("a name has \(place - start) bytes, expected at most \(WireMessage.nameLimit)", at: start)
    }
    end = place
    return names.name(String(decoding: text[start..<place], as: UTF8.self))
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
      true
    default: "_@.:#$".utf8.contains(byte)
    }
  }

  /// Reads a number in its notation: sign, exponent and, in programs, hexadecimal digits. Returns nil if no number
  /// comes next.
  mutating func number() -> String? {
    let start = position
    var place = start
    while let byte = byte(place), Self.isOfWord(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") {
      place += 1
    }
    guard place > start else { return nil }
    end = place
    return String(decoding: text[start..<place], as: UTF8.self)
  }

  /// Reads a string in double quotes. Backslashes escape characters that would end it.
  mutating func string() throws(FormatError) -> String {
    let start = position
    guard byte(start) == UInt8(ascii: "\"") else { throw unexpected("a string") }
    var characters: [UInt8] = []
    var place = start + 1
    while let byte = byte(place), byte != UInt8(ascii: "\"") {
      guard byte == UInt8(ascii: "\\") else {
        characters.append(byte)
        place += 1
        continue
      }
      guard let escaped = self.byte(place + 1) else { break }
      place += 2
      switch escaped {
      case UInt8(ascii: "n"): characters.append(UInt8(ascii: "\n"))
      case UInt8(ascii: "t"): characters.append(UInt8(ascii: "\t"))
      case UInt8(ascii: "r"): characters.append(UInt8(ascii: "\r"))
      default: characters.append(escaped)
      }
    }
    guard byte(place) == UInt8(ascii: "\"") else { throw error("a string does not end", at: start) }
    end = place + 1
    return String(decoding: characters, as: UTF8.self)
  }

  /// Reads a bracket and everything up to the matching closing bracket.
  mutating func skipBrackets() throws(FormatError) {
    let start = position
    var depth = 0
    repeat {
      guard let next else { throw error("a bracket does not end", at: start) }
      switch next {
      case "\"": _ = try string()
      case "(", "[", "{":
        depth += 1
        end = position + 1
      case ")", "]", "}":
        depth -= 1
        end = position + 1
      default: end = position + 1
      }
    } while depth > 0
  }

  /// Returns an error about the characters that come next.
  func unexpected(_ expected: String) -> FormatError {
    let start = position
    guard start < text.count else { return error("the text ends where \(expected) is expected", at: start) }
    var last = start
    while let byte = byte(last), byte > UInt8(ascii: " "), last < start + 40 { last += 1 }
    let found = String(decoding: text[start..<last], as: UTF8.self)
    return error("expected \(expected), found '\(found)'", at: start)
  }

  func error(_ reason: String, at place: Int, _ code: FormatError.Code = .malformed) -> FormatError {
    let line = text[..<min(place, text.count)].count { $0 == UInt8(ascii: "\n") } + 1
    return FormatError(
      code, file: file, place: "line \(line)", offset: place, reason,
      remedy: code == .malformed ? "the file may be damaged or cut short" : nil)
  }
}
