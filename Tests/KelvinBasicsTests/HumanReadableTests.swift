import KelvinBasics
import Testing

@Suite("Numbers for people")
struct HumanReadableTests {
  @Test("three significant digits and the right unit, across every boundary")
  func formats() {
    let seconds: [(Double, String)] = [
      (0, "0 s"), (1.234e-9, "1.23 ns"), (999.6e-9, "1.00 µs"), (4.5e-4, "450 µs"), (0.0123456, "12.3 ms"),
      (0.99949, "999 ms"), (0.9996, "1.00 s"), (59.96, "60.0 s"), (119, "119 s"),
      (200, "3 min 20 s"), (600, "10 min"), (8100, "2 h 15 min"),
      (7200, "2 h"),
      (-0.002, "−2.00 ms"), (4e-12, "0 s"), (.nan, "—"), (.infinity, "—"),
    ]
    for (value, text) in seconds { #expect(HumanReadable.seconds(value) == text) }
    #expect(HumanReadable.bytes(1023) == "1023 B")
    #expect(HumanReadable.bytes(1_572_864) == "1.50 MiB")
    #expect(HumanReadable.perSecond(41.66) == "41.7 /s")
    #expect(HumanReadable.percent(0.9734) == "97.3 %")
    #expect(HumanReadable.significant(0.0000123) == "1.23e-5")
    #expect(HumanReadable.significant(9.9999e-5) == "1.00e-4")
    #expect(HumanReadable.fixed(2.5, decimals: 0) == "3")
    #expect(HumanReadable.fixed(-0.04, decimals: 1) == "0.0")
    #expect(HumanReadable.fixed(1e300, decimals: 2) == "1e+300")
  }

  @Test func deepRegionNameIsShortenedInTheMiddle() {
    #expect(HumanReadable.region("halve/body", times: 10) == "halve/body: 10 × in each inference")
    let deep = (0..<500).map { "branch\($0)/then" }.joined(separator: "/")
    let text = HumanReadable.region(deep, times: 0.5)
    #expect(text.hasPrefix("branch0/then/branch1/then/") && text.count < 300 && text.contains(" … "))
    #expect(text.hasSuffix("/branch498/then/branch499/then: 0.5 × in each inference"))
  }
}
