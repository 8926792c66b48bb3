import KelvinBasics
import KelvinFeatures
import KelvinIndex
import TestSupport
import Testing

@Suite struct SimilarityTests {
  private let fixture = IndexFixture()

  @Test(arguments: [3, 31, 32, 100, 512])
  func scoresAreTheCosinesOfTheVectors(dimensions: Int) throws {
    var random = SeededGenerator(seed: UInt64(dimensions))
    func vector() -> [Float] { (0..<dimensions).map { _ in Float.random(in: -3...3, using: &random) } }
    let vectors = (0..<50).map { _ in vector() }
    _ = try fixture.writer(IndexFixture.facts(dimensions: dimensions)).write(
      vectors.enumerated().map { IndexFixture.record("\($0)", vector: $1) })
    let wanted = vector()
    func length(_ vector: [Float]) -> Double { vector.reduce(0) { $0 + Double($1) * Double($1) }.squareRoot() }
    let cosines = vectors.map { other in
      zip(wanted, other).reduce(0) { $0 + Double($1.0) * Double($1.1) } / length(wanted) / length(other)
    }
    var question = IndexReader.Question(limit: 50)
    question.similarity = .vector(wanted)
    let matches = try IndexReader(fixture.file).search(question).matches
    #expect(matches.map(\.path) == vectors.indices.sorted { cosines[$0] > cosines[$1] }.map(String.init))
    for match in matches { #expect(abs(Double(match.score) - cosines[Int(match.path) ?? 0]) < 1e-5) }
  }

  @Test func indexedImageIsFoundByItsContents() throws {
    _ = try fixture.writer(IndexFixture.facts(dimensions: 2)).write([
      IndexFixture.record("a", vector: [0, 2], content: 1), IndexFixture.record("b", vector: [3, 3], content: 2),
    ])
    let reader = try IndexReader(fixture.file)
    guard case .vector(let vector) = try reader.similarity(ofContent: [UInt8](repeating: 2, count: 32)) else {
      Issue.record("no vector")
      return
    }
    let half = 0.5.squareRoot()
    #expect(vector.count == 2 && vector.allSatisfy { abs(Double($0) - half) < 1e-6 })
    #expect(try reader.similarity(ofContent: [9]) == nil)
  }

  @Test func labelsAreComparedWithoutVectors() throws {
    _ = try fixture.writer().write([
      IndexFixture.record("same", [("otter", 0.8), ("badger", 0.2)]),
      IndexFixture.record("near", [("otter", 0.5), ("dog", 0.5)]), IndexFixture.record("far", [("dog", 1)]),
    ])
    var question = IndexReader.Question(limit: 3)
    question.similarity = .labels([("otter", 0.8), ("badger", 0.2)])
    let answer = try IndexReader(fixture.file).search(question)
    let matches = answer.matches
    #expect(matches.map(\.path) == ["same", "near"])
    #expect((answer.count, answer.unrelatedCount) == (2, 1))
    #expect(abs(matches[0].score - 1) < 1e-6)
    #expect(abs(matches[1].score - Float(0.4).squareRoot()) < 1e-6)
    // Of a classifier that is unsure most of its probability is not kept, and an image is like itself all the same.
    question.similarity = .labels([("otter", 0.2), ("badger", 0.05)])
    #expect(abs(try IndexReader(fixture.file).search(question).matches[0].score - 1) < 1e-6)
  }

  @Test func vectorsOfWrongOrZeroLengthAreRefused() throws {
    _ = try fixture.writer(IndexFixture.facts(dimensions: 2)).write([
      IndexFixture.record("a", vector: [1, 0]), IndexFixture.record("nothing", vector: [0, 0]),
      IndexFixture.record("broken", vector: [.nan, 1]),
    ])
    var question = IndexReader.Question(limit: 9)
    question.similarity = .vector([1, 0])
    #expect(try IndexReader(fixture.file).search(question).matches.map(\.path) == ["a"])
    for vector: [Float] in [[1], [0, 0], [.infinity, 0]] {
      question.similarity = .vector(vector)
      let asked = question
      #expect(throws: PhotoIndexError.self) { try IndexReader(fixture.file).search(asked) }
    }
  }

  @Test func nearDuplicatesDifferInFewHashBits() throws {
    let hash: UInt64 = 0xF0E1_D2C3_B4A5_9687
    _ = try fixture.writer().write([
      IndexFixture.record("a", hash: hash), IndexFixture.record("three", hash: hash ^ 0x8000_0000_0100_0001),
      IndexFixture.record("five", hash: ~hash), IndexFixture.record("seven", hash: ~hash ^ 0x7F00),
      IndexFixture.record("copy", hash: 5, content: 7), IndexFixture.record("original", hash: 5, content: 7),
      IndexFixture.record("black", hash: 0), IndexFixture.record("white", hash: 0),
    ])
    func groups(_ distance: Int) throws -> Set<Set<String>> {
      Set(try IndexReader(fixture.file).duplicates(within: distance).map { Set($0.paths) })
    }
    #expect(try groups(2) == [["copy", "original"]])
    #expect(try groups(3) == [["copy", "original"], ["a", "three"]])
    #expect(try groups(7) == [["copy", "original"], ["a", "three"], ["five", "seven"]])
    let identical = try IndexReader(fixture.file).duplicates(within: 3).filter(\.isIdentical)
    #expect(identical.map(\.paths) == [["copy", "original"]])
  }
}
