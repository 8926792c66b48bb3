import FoundationEssentials
import KelvinTracking
import Testing

/// Options from a file.
@Suite struct TrackerOptionsTests {
  private static func decode(_ text: String) throws -> TrackerOptions {
    try JSONDecoder().decode(TrackerOptions.self, from: Data(text.utf8))
  }

  @Test func missingKeysHaveTheirDefaults() throws {
    let options = try Self.decode(#"{"secondsKept": 2.5, "labelsMustAgree": false}"#)
    var expected = TrackerOptions()
    expected.secondsKept = 2.5
    expected.labelsMustAgree = false
    #expect(options == expected)
    #expect(try Self.decode("{}") == TrackerOptions())
  }

  @Test func valueOutOfRangeIsAnError() {
    #expect(throws: DecodingError.self) { try Self.decode(#"{"highScore": 2}"#) }
    #expect(throws: DecodingError.self) { try Self.decode(#"{"updatesUntilConfirmed": 0}"#) }
  }

  @Test func unknownKeyIsAnError() throws {
    let error = #expect(throws: DecodingError.self) { try Self.decode(#"{"highscore": 0.4}"#) }
    #expect("\(try #require(error))".contains("highscore"))
  }

  @Test func encodedOptionsAreReadAgain() throws {
    var options = TrackerOptions()
    options.updatesUntilConfirmed = 5
    options.highMatch = 0.25
    let again = try JSONDecoder().decode(TrackerOptions.self, from: try JSONEncoder().encode(options))
    #expect(again == options)
  }
}
