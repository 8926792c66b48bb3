import KelvinBasics
import KelvinFeatures
import KelvinHostOperations
import KelvinIndex
import Testing

@Suite struct SearchTests {
  private let fixture = IndexFixture()

  private func fill() throws {
    _ = try fixture.writer().write([
      IndexFixture.record("river.jpg", [("otter", 0.9), ("lake, lakeside", 0.05)], modified: 1),
      IndexFixture.record("wood.jpg", [("badger", 0.6), ("dog", 0.3)], modified: 2),
      IndexFixture.record("shore.jpg", [("sea lion", 0.7), ("lake, lakeside", 0.2)], modified: 3),
      IndexFixture.record("zoo.jpg", [("lion, king of beasts", 0.5), ("otter", 0.4), ("sea", 0.02)], modified: 4),
    ])
  }

  @Test(arguments: [
    ("otter", ["river.jpg", "zoo.jpg"]), ("otter OR badger", ["river.jpg", "wood.jpg", "zoo.jpg"]),
    ("otter AND lake", ["river.jpg"]), ("otter NOT lake", ["zoo.jpg"]), ("sea lion", ["shore.jpg"]),
    ("sea AND lion", ["shore.jpg", "zoo.jpg"]), ("\"lion sea\"", []), ("lion", ["shore.jpg", "zoo.jpg"]),
    ("OTTERS", ["river.jpg", "zoo.jpg"]), ("bad*", ["wood.jpg"]), ("bad", []), ("heron", []),
    ("(otter OR badger) AND (lake OR dog)", ["wood.jpg", "river.jpg"]),
  ])
  func matchesAreSortedByConfidence(words: String, paths: [String]) throws {
    try fill()
    #expect(try fixture.find(words) == paths)
  }

  @Test func labelsBelowTheConfidenceDoNotMatch() throws {
    try fill()
    #expect(try fixture.find("otter", LabelLimits(confidence: 0.5)) == ["river.jpg"])
    #expect(try fixture.find("otter AND lake", LabelLimits(confidence: 0.1)) == [])
    // A label that does not count is not a reason to leave an image out either.
    #expect(try fixture.find("otter NOT lake", LabelLimits(confidence: 0.1)) == ["river.jpg", "zoo.jpg"])
    #expect(try fixture.find(nil, LabelLimits(confidence: 0.65)) == ["river.jpg", "shore.jpg"])
  }

  @Test func newestImagesComeFirstWithoutWords() throws {
    try fill()
    #expect(try fixture.find(nil) == ["zoo.jpg", "shore.jpg", "wood.jpg", "river.jpg"])
    #expect(Set(try fixture.find(nil, since: 3)) == ["zoo.jpg", "shore.jpg"])
    #expect(try fixture.find("otter", since: 3) == ["zoo.jpg"])
  }

  @Test func matchedLabelIsListedFirst() throws {
    try fill()
    var question = IndexReader.Question(limit: 1)
    question.words = try LabelQuery("lake")
    let answer = try IndexReader(fixture.file).search(question)
    #expect((answer.count, answer.unrelatedCount) == (2, 0))
    let matches = answer.matches
    #expect(matches.map(\.path) == ["shore.jpg"])
    #expect(matches[0].labels.map(\.identifier) == ["lake, lakeside", "sea lion"])
    #expect((matches[0].width, matches[0].height) == (40, 30))
  }

  @Test func curvesSetTheConfidenceOfEachLabel() throws {
    func points(_ values: [(Float, Float)]) -> [PrecisionRecallCurve.Point] {
      values.map { PrecisionRecallCurve.Point(threshold: $0.0, value: $0.1) }
    }
    let curve = PrecisionRecallCurve(
      precision: points([(0.1, 0.5), (0.3, 0.8), (0.8, 0.95)]), recall: points([(0.1, 0.9), (0.3, 0.6), (0.8, 0.2)]))
    _ = try fixture.writer(curves: ["otter": curve]).write([
      IndexFixture.record("sure", [("otter", 0.85)]), IndexFixture.record("likely", [("otter", 0.5)]),
      IndexFixture.record("hardly", [("otter", 0.15)]), IndexFixture.record("other", [("badger", 0.99)]),
    ])
    func find(_ precision: Float?, _ recall: Float?) throws -> [String] {
      try fixture.find("otter OR badger", LabelLimits(precision: precision, recall: recall))
    }
    #expect(try find(0.9, nil) == ["sure"])
    #expect(try find(0.8, nil) == ["sure", "likely"])
    #expect(try find(0.99, nil) == [])
    #expect(try find(nil, 0.9) == ["sure", "likely", "hardly"])
    #expect(try find(nil, 0.5) == ["sure", "likely"])
    // At the largest threshold that recalls 0.6, 0.8 are right.
    #expect(try find(0.8, 0.6) == ["sure", "likely"])
    #expect(try find(0.9, 0.6) == [])
  }

  @Test func precisionWithoutCurvesIsAnErrorWithARemedy() throws {
    try fill()
    let error = #expect(throws: PhotoIndexError.self) {
      try fixture.find("otter", LabelLimits(precision: 0.9))
    }
    #expect(error?.code == .notIndexed)
    #expect(error?.description.contains("--min-confidence") == true)
  }

  @Test func categoriesCountImagesByTheirTopLabel() throws {
    try fill()
    _ = try fixture.writer().write([IndexFixture.record("pond.jpg", [("otter", 0.95)])])
    let categories = try IndexReader(fixture.file).categories()
    #expect(categories.map(\.identifier) == ["otter", "badger", "lion, king of beasts", "sea lion"])
    #expect(categories.map(\.count) == [2, 1, 1, 1])
    #expect(categories[0].example == "pond.jpg")
    #expect(try IndexReader(fixture.file).categories(LabelLimits(confidence: 0.8)).map(\.count) == [2])
  }
}
