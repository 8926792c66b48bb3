import KelvinBasics
import Testing

@Suite("Spelling suggestions")
struct NearestWordTests {
  @Test(
    "the nearest word is found if one is near",
    arguments: [
      ("dgo", "dog"), ("Dog", "dog"), ("aeroplan", "aeroplane"), ("airoplane", "aeroplane"),
      ("potted plant", "pottedplant"), ("tv", nil), ("otter", nil), ("", nil),
    ])
  func nearest(word: String, meant: String?) {
    #expect(word.nearest(of: ["aeroplane", "cow", "dog", "pottedplant", "tvmonitor"]) == meant)
  }

  @Test("the nearest word wins, and the first of equally near words")
  func ties() {
    #expect("cap".nearest(of: ["cat", "cab"]) == "cat")
    #expect("cabs".nearest(of: ["cats", "cabs"]) == "cabs")
    #expect("x".nearest(of: [String]()) == nil)
  }
}
