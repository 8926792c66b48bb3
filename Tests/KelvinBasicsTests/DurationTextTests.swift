import KelvinBasics
import Testing

@Suite struct DurationTextTests {
  @Test(arguments: [
    ("90", 90.0), ("0.2", 0.2), ("1e-3", 1e-3), ("500ms", 0.5), ("1s", 1), ("1.5s", 1.5), ("2m", 120), ("1h", 3600),
    ("1h30m", 5400), ("2d", 172_800), ("1s500ms", 1.5),
  ])
  func durationsAreParsed(text: String, seconds: Double) {
    #expect(DurationText.seconds(text) == seconds)
  }

  @Test(arguments: ["", "0", "0s", "-1", "-1s", "s", "ms", "1x", "1 s", "1s5", "1.2.3s", "nan", "inf", "1e400", "５s"])
  func otherTextIsNoDuration(text: String) {
    #expect(DurationText.seconds(text) == nil)
  }
}
