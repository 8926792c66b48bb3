import FoundationEssentials
import KelvinBasics
import Testing

/// External text as it is shown to people.
@Suite struct PrintableStringTests {
  /// Characters that control a terminal or the reading order, or have no width.
  static let hidden: [Unicode.Scalar] =
    (Array(0x00...0x1F) + Array(0x7F...0x9F) + Array(0x200B...0x200F) + Array(0x2028...0x202E)
    + Array(0x2060...0x2064) + Array(0x2066...0x206F) + [0xAD, 0x34F, 0x61C, 0x180E, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9]
    + Array(0xE0020...0xE007F) + Array(0x10F780...0x10F7FF))
    .compactMap { Unicode.Scalar(UInt32($0)) }

  @Test func terminalControlCharactersAreEscaped() {
    for scalar in Self.hidden {
      let shown = "a\(scalar)b".printable
      #expect(!shown.unicodeScalars.contains(scalar), "U+\(String(scalar.value, radix: 16))")
      #expect(shown.hasPrefix("a\\") && shown.hasSuffix("b"), "\(shown)")
    }
    #expect("\u{1B}[31mred\u{202E}".printable == "\\u{1B}[31mred\\u{202E}")
    #expect("one\ntwo\r\nthree\tfour".printable == "one\\ntwo\\r\\nthree\\tfour")
  }

  @Test(arguments: [
    "plain", "größer — µs × ✓ …", "日本語", "עברית", "العربية", "हिन्दी क्षत्रिय", "می‌خواهم", "🙂👩‍👩‍👧🏳️‍🌈1", "e\u{301}", "a\\b",
    "\u{E000}",
  ])
  func ordinaryStringsAreUnchanged(text: String) { #expect(text.printable == text) }

  @Test func joinersStayOnlyInScriptsThatNeedThem() {
    #expect("ad\u{200D}min".printable == "ad\\u{200D}min")
    #expect("\u{200D}".printable == "\\u{200D}")
    #expect("x\u{FE0F}\u{200D}y".printable == "x\\u{FE0F}\\u{200D}y")
  }

  @Test func combiningMarksAreLimited() {
    let shown = ("e" + String(repeating: "\u{301}", count: 500)).printable
    #expect(shown.unicodeScalars.count { $0 == "\u{301}" } == 8)
  }

  @Test func combiningMarksAreLimitedInJSON() throws {
    let text = "e" + String(repeating: "\u{301}", count: 500) + "f"
    let document = try JSONText.encode([text], layout: .line)
    for json in [String(decoding: document, as: UTF8.self), "[\(JSONText.quoted(text))]"] {
      #expect(json.unicodeScalars.count { $0 == "\u{301}" } == 8 && json.contains("\\u0301"))
      #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)).first?.unicodeScalars.count == 502)
    }
  }

  /// Right-to-left text forms runs of its own, so that the order of other text does not change.
  @Test func stringIsSplitIntoDirectionalRuns() {
    let cases: [(String, [String])] = [
      ("", []), ("conv/1", ["conv/1"]), ("größe 3", ["größe 3"]), ("שלום", ["<שלום>"]),
      ("node 'שלום' 3 ms", ["node '", "<שלום>", "' 3 ms"]),
      ("שלום עולם_טוב/שם", ["<שלום עולם_טוב/שם>"]), ("שלום 12 עולם", ["<שלום>", " 12 ", "<עולם>"]),
      ("a.שלום.b", ["a.", "<שלום>", ".b"]), ("مرحبا، أهلا", ["<مرحبا، أهلا>"]),
      ("שָׁלוֹם", ["<שָׁלוֹם>"]), ("שלום ", ["<שלום>", " "]), ("שלום  עולם", ["<שלום>", "  ", "<עולם>"]),
    ]
    for (text, parts) in cases {
      let runs = text.directionalRuns.map { $0.isFromTheRight ? "<\(String($0.text))>" : String($0.text) }
      #expect(runs == parts, "\(text): \(runs)")
    }
  }

  @Test func escapingTwiceChangesNothing() {
    // A hidden character is not a neighbour that needs a joiner.
    for text in ["\u{2028}\u{200D}", "\u{200D}\u{9B}", "\u{FFF9}\u{FE0F}"] {
      #expect(text.printable.printable == text.printable && !text.printable.unicodeScalars.contains { $0.value > 0x7E })
    }
    for seed in 0..<200 {
      var random = SeededGenerator(seed: UInt64(seed))
      var text = ""
      for _ in 0..<20 {
        let value =
          [
            UInt32.random(in: 0...0x2FF, using: &random), .random(in: 0x2000...0x20FF, using: &random),
            .random(in: 0...0x10FFFF, using: &random),
          ].randomElement(using: &random) ?? 0
        if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
      }
      #expect(text.printable.printable == text.printable, "seed \(seed)")
      #expect(!text.printable.unicodeScalars.contains { $0.value < 0x20 || 0x7F...0x9F ~= $0.value }, "seed \(seed)")
    }
  }

  @Test func lineBreaksStayAndMessagesAreShortened() {
    #expect("a\u{1B}\nb\r\n".printableLines == "a\\u{1B}\nb\\r\n")
    let message = String(repeating: "n", count: 1 << 20).printableMessage
    #expect(message.count == 4000 && message.contains("…"))
  }

  @Test func tablesAgreeOnWidths() {
    for text in ["日本語", "🙂🙂", "e\u{301}e", "\u{202E}a", "한국어 x", "ﾊﾝｶｸ", "⚠️!"] {
      var table = TextTable(.init("NAME"), .init("N", .right))
      table.add(text, "1")
      table.add("plain ascii name", "22")
      let lines = table.lines()
      #expect(Set(lines.map(\.columns)).count == 1, "\(text): \(lines)")
    }
    #expect("日本語".columns == 6 && "e\u{301}".columns == 1 && "🙂".columns == 2 && "é".columns == 1)
    var narrow = TextTable(.init("NAME", shrinksTo: 8))
    narrow.add(String(repeating: "日", count: 40))
    #expect(narrow.lines(width: 20).allSatisfy { $0.columns <= 20 })
  }

  @Test func cellsCannotForgeALine() {
    var table = TextTable(.init("NAME"), .init("N"))
    table.add(["a\nkelvin: error: fake", "1"], remarks: ["b\nkelvin: error: fake"])
    table.add(heading: "c\nkelvin: error: fake")
    #expect(table.lines().count == 4)
    #expect(table.lines().allSatisfy { !$0.contains("\n") })
    #expect("p\nq \u{1B}[2J".wrapped() == ["p\\nq \\u{1B}[2J"])
  }

  @Test func jsonEscapesControlCharactersWithoutLoss() throws {
    let texts = Self.hidden.map { "a\($0)\"\\b" } + ["🙂é日本語", "👩‍👧"]
    for layout in [JSONText.Layout.readable, .line] {
      let data = try JSONText.encode(texts, layout: layout)
      #expect(try JSONDecoder().decode([String].self, from: data) == texts)
      let raw = String(decoding: data, as: UTF8.self).unicodeScalars.filter { $0 != "\n" }
      #expect(!raw.contains { Self.hidden.contains($0) && $0.value != 0x200D })
      #expect(String(decoding: data, as: UTF8.self).contains("🙂é日本語"))
    }
    for text in texts {
      let quoted = Data(JSONText.quoted(text).utf8)
      #expect(try JSONDecoder().decode(String.self, from: quoted) == text)
      #expect(!String(decoding: quoted, as: UTF8.self).unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9B })
    }
  }

  @Test func anyPathSurvivesConversionToAString() throws {
    let fixed: [[UInt8]] = [
      [], [0xFF], [0x61, 0xFF, 0xFE, 0x62], [0xC3], [0xE2, 0x80], [0xED, 0xA0, 0x80], [0xC0, 0xAF],
      Array("é/日本\u{10F7FF}".utf8), [0xF4, 0x8F, 0x9F], Array("e\u{301}".utf8), [0xF5, 0x80, 0x80, 0x80],
    ]
    for seed in 0..<500 {
      var random = SeededGenerator(seed: UInt64(seed))
      let bytes =
        seed < fixed.count
        ? fixed[seed]
        : (0..<Int.random(in: 0...24, using: &random)).map { _ in
          [UInt8.random(in: 1...255, using: &random), 0x61, 0xC3, 0xA9, 0xF4, 0x8F].randomElement(using: &random) ?? 1
        }
      let text = String(pathBytes: bytes)
      #expect(text.pathBytes.map { UInt8(bitPattern: $0) } == bytes + [0], "seed \(seed): \(bytes)")
      // Strings that the URL itself splits or joins are skipped.
      if !bytes.isEmpty, !bytes.contains(0x2F), bytes != [0x2E], bytes != [0x2E, 0x2E] {
        let url = URL(filePath: "/x/" + text)
        #expect(url.path.pathBytes == ("/x/" + text).pathBytes, "seed \(seed): \(bytes)")
      }
      let coded = try JSONDecoder().decode(String.self, from: JSONText.encode(text))
      #expect(coded.pathBytes == text.pathBytes, "seed \(seed)")
    }
    #expect(String(pathBytes: [0x61, 0xFF]).printable == "a\\xFF")
    #expect(String(pathBytes: Array("schön".utf8)) == "schön")
  }
}
