import KelvinBasics
import Testing

@Suite("Rows of a CSV file, in blocks")
struct DelimitedRowsTests {
  @Test("blocks of any size have the rows and lines of the whole", arguments: 0..<60 as Range<UInt64>)
  func blocks(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func pick(_ parts: [String]) -> String { parts[Int(random.unit() * Double(parts.count))] }
    var text = seed.isMultiple(of: 3) ? "\u{FEFF}" : ""
    for _ in 0..<Int(random.unit() * 40) {
      let fields = (0..<1 + Int(random.unit() * 4)).map { _ in
        DelimitedText.field(
          (0..<Int(random.unit() * 5)).map { _ in pick(["a", "\"", ",", "\n", "\r", "\r\n", "é", " "]) }.joined())
      }
      text += fields.joined(separator: ",") + pick(["\n", "\r\n", "\r", "\n\n"])
    }
    let bytes = Array(text.utf8)
    let whole = try DelimitedText(bytes).rows
    for size in [1, 2, 7, 64, 4096] {
      var cutter = DelimitedCutter()
      var place = 0
      var rows: [(line: Int, fields: [String])] = []
      while let block = try cutter.next(
        size,
        { target in
          // Bytes come in pieces, as from a pipe.
          let count = min(target.count, bytes.count - place, 3)
          target.copyBytes(from: bytes[place..<place + count])
          place += count
          return count
        })
      {
        let cut = try DelimitedRows(block.bytes, firstLine: block.firstLine)
        rows += cut.rows.map { row in
          (row.line, cut.fields[row.first..<row.first + row.count].map { cut.text(of: $0) ?? "" })
        }
      }
      #expect(rows.map(\.line) == whole.map(\.line), "\(text.debugDescription), \(size)")
      #expect(rows.map(\.fields) == whole.map(\.fields), "\(text.debugDescription), \(size)")
    }
  }

  @Test("an unterminated row is rejected before it fills memory")
  func overlong() {
    var cutter = DelimitedCutter(largestRow: 1000)
    var isFirst = true
    #expect(throws: DelimitedCutter.Overlong.self) {
      _ = try cutter.next(16) { target in
        target.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "a"))
        if isFirst { target[0] = UInt8(ascii: "\"") }
        isFirst = false
        return target.count
      }
    }
  }

  @Test("numbers are the nearest float64, as the C library has them", arguments: 0..<40 as Range<UInt64>)
  func numbers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let digits = (0..<1 + Int(random.unit() * 20)).map { _ in "\(Int(random.unit() * 10))" }.joined()
      let point = Int(random.unit() * Double(digits.count + 1))
      var text = digits.prefix(point) + "." + digits.dropFirst(point)
      if random.unit() < 0.3 { text = Substring(digits) }
      let signed =
        (random.unit() < 0.5 ? "-" : "") + text + (random.unit() < 0.2 ? "e\(Int(random.unit() * 40) - 20)" : "")
      #expect(NumberText.number(signed) == Double(signed.hasSuffix(".") ? signed + "0" : signed), "\(signed)")
      let read = Array(" \(signed)".utf8).withUnsafeBufferPointer { NumberText.double($0) }
      #expect(read == Double(signed.hasSuffix(".") ? signed + "0" : signed), "\(signed)")
    }
  }

  @Test(
    "integers are numbers without a fraction",
    arguments: [
      ("3", 3), ("3.0", 3), ("-9223372036854775808", Int64.min), (" 7\t", 7), ("3.5", nil), ("", nil), ("1e3", 1000),
    ])
  func whole(text: String, expected: Int64?) {
    #expect(Array(text.utf8).withUnsafeBufferPointer { NumberText.integer($0) } == expected)
  }

  @Test(
    "an invalid number gives nil",
    arguments: [
      "", " ", "-", ".", "1,5", "1 2", "x", "--1", "1e", "0x", "0x10", "1\0999", "1\0", "infinity", "inf", "nan", "1e+",
      "+-1",
      "1e5.0", "1_000", "\u{661}",
    ])
  func noNumbers(text: String) {
    #expect(Array(text.utf8).withUnsafeBufferPointer { NumberText.double($0) } == nil)
  }

  @Test("a number beyond float64 is infinite in tables and invalid in options")
  func beyondRange() {
    let read = Array("-1e400".utf8).withUnsafeBufferPointer { NumberText.double($0) }
    #expect(read == -.infinity && NumberText.number("1e400") == nil && NumberText.number(" 1") == nil)
    #expect(NumberText.number("+.5e-1") == 0.05 && NumberText.number("7.") == 7)
  }

  @Test(
    "a safe field is not a formula",
    arguments: [
      ("=1+1", "'=1+1"), ("+a", "'+a"), ("-a", "'-a"), ("@a", "'@a"), ("\tx", "'\tx"), ("\r", "\"'\r\""),
      ("-1.5", "-1.5"),
      ("+2e3", "+2e3"), ("a=b", "a=b"), ("=\"x\"", "\"'=\"\"x\"\"\""), ("", ""),
    ])
  func safe(text: String, expected: String) {
    #expect(DelimitedText.field(text, isSafe: true) == expected)
    #expect(DelimitedText.field(text, isSafe: false).first != "'")
  }
}
