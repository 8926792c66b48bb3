import FoundationEssentials
import KelvinBasics
import Testing

@Suite("JSON reading")
struct JSONTextTests {
  /// Foundation's reader crashed at the last of these: it reads behind the end of the document.
  @Test(
    "a document that ends in an open bracket is invalid in every encoding",
    arguments: ["[", "{", "{\"a\":["])
  func unfinished(_ level: String) {
    for depth in [1, 2, 255, 511, 512, 513, 514, 5000] {
      let text = String(repeating: level, count: depth)
      let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      let swapped = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
      for document in [
        Data(text.utf8), Data([0xFF, 0xFE] + wide), Data(wide), Data([0xFE, 0xFF] + swapped), Data(swapped),
      ] {
        #expect(throws: DecodingError.self) { try JSONText.decode([Int].self, from: document) }
      }
    }
  }

  @Test("an empty document is invalid")
  func empty() {
    for document in [Data(), Data([0]), Data(" ".utf8)] {
      #expect(throws: DecodingError.self) { try JSONText.decode([Int].self, from: document) }
    }
  }

  @Test("numbers, lists and UTF-16 documents are read")
  func whole() throws {
    #expect(try JSONText.decode(Int.self, from: Data("7".utf8)) == 7)
    #expect(try JSONText.decode([[Int]].self, from: Data("[[1],[]]\n".utf8)) == [[1], []])
    let wide = "{\"a\":1}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(try JSONText.decode([String: Int].self, from: Data([0xFF, 0xFE] + wide)) == ["a": 1])
  }
}
