import KelvinBasics
import Testing

@Suite("Text tables")
struct TextTableTests {
  @Test("columns are as wide as their widest cell, names to the left, numbers to the right")
  func aligned() {
    var table = TextTable(numbers: ["Layer", "time", "runs"])
    table.add("conv", "1.20 ms", "10")
    table.add("softmax", "9 µs", "100")
    #expect(
      table.lines() == [
        "Layer       time  runs",
        "conv     1.20 ms    10",
        "softmax     9 µs   100",
      ])
  }

  @Test("an empty column of numbers is omitted")
  func vanishing() {
    var table = TextTable(numbers: ["Layer", "time", "error"])
    table.add("conv", "1 ms", "—")
    table.add("pool", "2 ms", "")
    #expect(table.lines() == ["Layer  time", "conv   1 ms", "pool   2 ms"])
  }

  @Test("a narrow table drops named columns, then shortens names, but never numbers")
  func narrow() {
    var table = TextTable(numbers: ["Layer", "time", "runs"])
    table.add("a very long name", "1.20 ms", "10")
    #expect(table.lines(width: 25, leavingOut: ["runs"]) == ["Layer                time", "a very long name  1.20 ms"])
    #expect(table.lines(width: 20, leavingOut: ["runs"]) == ["Layer           time", "a very lon…  1.20 ms"])
    #expect(table.lines(width: 5)[1] == "a very …  1.20 ms    10")
  }

  @Test("columns shrink to their limits, and remarks follow their row")
  func cuts() {
    var table = TextTable(.init("PATH", shrinksTo: 4, cut: .beginning), .init("KIND", shrinksTo: 4))
    table.add(["models/mobilenet.onnx", "abcdefgh"], remarks: ["why it is so"])
    #expect(table.lines(width: 19) == ["PATH       KIND", "mo…t.onnx  abcdefgh", "    why it is so"])
  }

  @Test("a heading has a line of its own and makes no column wider")
  func headings() {
    var table = TextTable(.init("NODE"), .init("COST", .right))
    table.add("a", "1")
    table.add(heading: "  loop/body: 10 × in each inference")
    table.add("    b", "22")
    #expect(
      table.lines() == ["NODE   COST", "a         1", "  loop/body: 10 × in each inference", "    b    22"])
  }

  @Test("a table without titles has no line for them")
  func untitled() {
    var table = TextTable(.init(""), .init(""))
    table.add("goal", "latency")
    #expect(table.lines() == ["goal  latency"])
  }
}

@Suite("Line wrapping")
struct WrappingTests {
  @Test("words stay whole, lines after the first hang, and runs of spaces are kept")
  func wrapped() {
    #expect("- one two three".wrapped(to: 9, hangingIndent: 2) == ["- one two", "  three"])
    #expect("weights    12 MiB of it".wrapped(to: 17, hangingIndent: 11) == ["weights    12 MiB", "           of it"])
    #expect("unbreakable".wrapped(to: 4, indent: 1) == [" unbreakable"])
  }

  @Test("long strings are shortened in the middle")
  func middle() {
    #expect("abcdefgh".truncatedInMiddle(to: 5) == "ab…gh")
    #expect("abc".truncatedInMiddle(to: 5) == "abc")
  }
}
