import KelvinBasics
import Testing

@Suite("The word that is meant")
struct NearestWordTests {
  @Test(
    "the nearest word is found where one is near",
    arguments: [
      ("dgo", "dog"), ("Dog", "dog"), ("aeroplan", "aeroplane"), ("airoplane", "aeroplane"), ("potted plant", "pottedplant"),
      ("tv", nil), ("otter", nil), ("", nil),
    ])
  func nearest(word: String, meant: String?) {
    #expect(word.nearest(of: ["aeroplane", "cow", "dog", "pottedplant", "tvmonitor"]) == meant)
  }

  @Test("of words that are as near the first is taken, and the nearest before any")
  func ties() {
    #expect("cap".nearest(of: ["cat", "cab"]) == "cat")
    #expect("cabs".nearest(of: ["cats", "cabs"]) == "cabs")
    #expect("x".nearest(of: [String]()) == nil)
  }
}
