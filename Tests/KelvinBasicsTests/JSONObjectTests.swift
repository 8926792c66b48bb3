import FoundationEssentials
import KelvinBasics
import Testing

@Suite("JSON objects")
struct JSONObjectTests {
  private func text(_ object: JSONObject) throws -> String {
    String(decoding: try JSONText.encode(object, unspeakable: .null, layout: .line), as: UTF8.self)
  }

  @Test func valuesThatAreNilAreLeftOut() throws {
    let (absent, present): (Double?, Double?) = (nil, 1.5)
    #expect(try text(["b": absent, "a": present]) == #"{"a":1.5}"#)
    #expect(try text(["a": absent.map { ["b": $0] as JSONObject }]) == "{}")
    #expect(try text(["a": [Int]().nonEmpty, "b": "x".nonEmpty]) == #"{"b":"x"}"#)
  }

  @Test func nullIsWrittenOnlyWhereItIsAskedFor() throws {
    #expect(try text(["a": JSONNull(nil as Int?), "b": JSONNull(2)]) == #"{"a":null,"b":2}"#)
    #expect(try text(["a": Double.nan]) == #"{"a":null}"#)
  }

  @Test func objectsNest() throws {
    var object: JSONObject = ["list": [1, 2].map { ["number": $0] as JSONObject }]
    object.add("more", ["x": true] as JSONObject)
    object.add("none", nil)
    #expect(try text(object) == #"{"list":[{"number":1},{"number":2}],"more":{"x":true}}"#)
  }

  @Test func anObjectExtendsAnother() throws {
    let base: JSONObject = ["a": 1]
    #expect(try text((["b": 2] as JSONObject).extending(base)) == #"{"a":1,"b":2}"#)
    #expect(try text((["c": 3] as JSONObject).extending(["a": 1])) == #"{"a":1,"c":3}"#)
  }
}
