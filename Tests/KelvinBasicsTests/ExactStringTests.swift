import KelvinBasics
import Testing

@Suite struct ExactStringTests {
  private static let equivalents = [
    ("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{AC00}", "\u{1100}\u{1161}"), ("a\u{323}\u{307}", "a\u{307}\u{323}"),
  ]

  @Test(arguments: equivalents) func equivalentStringsDiffer(first: String, second: String) {
    #expect(first == second, "Swift's strings are equal")
    #expect(ExactString(first) != ExactString(second))
    #expect(Set([first, second, first].exact).count == 2)
    #expect([ExactString(first): 1, ExactString(second): 2][ExactString(second)] == 2)
  }

  @Test func orderIsThatOfTheBytes() {
    let sorted = ["\u{E9}", "f", "e\u{301}", "e", "", "\u{10000}", "\u{FFFF}"].exact.sorted()
    #expect(
      sorted.map(\.string).map { Array($0.utf8) }
        == ["", "e", "e\u{301}", "f", "\u{E9}", "\u{FFFF}", "\u{10000}"].map { Array($0.utf8) })
  }

  @Test func escapedStringsShowTheDifference() {
    #expect(ExactString("caf\u{E9}").escaped == "caf\\u{e9}" && ExactString("cafe\u{301}").escaped == "cafe\\u{301}")
    #expect(ExactString("a=\\").escaped == "a=\\" && ExactString("\u{212A}").escaped == "\\u{212a}")
  }

  @Test func namesOfADictionaryAreToldApart() {
    var values: [String: Int] = [:]
    (values[exact: "e\u{301}"], values[exact: "\u{E9}"], values[exact: "x"]) = (1, 2, 3)
    #expect(
      values[exact: "e\u{301}"] == 1 && values[exact: "\u{E9}"] == 2 && values[exact: "x"] == 3 && values.count == 3)
    values[exact: "e\u{301}"] = nil
    #expect(values[exact: "e\u{301}"] == nil && values[exact: "\u{E9}"] == 2)
    values[exact: "\u{E9}"] = 4
    #expect(values[exact: "\u{E9}"] == 4 && values.count == 2)
  }
}
