import KelvinBasics
import Testing

@Suite("Rows of a CSV file")
struct DelimitedTextTests {
  @Test("fields are read as they were written", arguments: 0..<50)
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // A quote with a mark above it is one character, as a return with a line feed is.
    let parts = ["a", ",", "\"", "\"\u{308}", "\r\n", "\n", "\r", " ", "é", "\u{2028}"]
    let rows = (0..<4).map { _ in
      (0..<3).map { _ in
        (0..<1 + Int(random.unit() * 5)).map { _ in parts[Int(random.unit() * Double(parts.count))] }.joined()
      }
    }
    let text = rows.map { $0.map(DelimitedText.field).joined(separator: ",") }.joined(separator: "\r\n")
    let read = try DelimitedText(text.utf8).rows.map { $0.fields.map { Array($0.utf8) } }
    #expect(read == rows.map { $0.map { Array($0.utf8) } }, "seed \(seed)")
  }

  @Test("only fields that need quotes have them")
  func quotes() throws {
    #expect(DelimitedText.field("a b;é") == "a b;é")
    // A field may name any file.
    #expect(try DelimitedText([0x61, 0xFF, 0x2C, 0x62]).rows[0].fields == [String(pathBytes: [0x61, 0xFF]), "b"])
    #expect(DelimitedText.field("say \"a, b\"") == #""say ""a, b""""#)
  }
}
