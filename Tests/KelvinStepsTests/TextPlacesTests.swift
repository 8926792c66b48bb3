import KelvinGraph
import KelvinSteps
import TestSupport
import Testing

/// Texts as places in lists, and texts of places.
@Suite struct TextPlacesTests {
  private let words = TextTensor(["b", "", "é", "e\u{301}", "b", "a"], [2, 3])

  /// - Parameter inputs: the operand, behind the slots of what comes before.
  private func run(_ step: TextPlaces, _ inputs: [HostValue]) throws -> (list: [String], end: [Int], places: [Tensor]) {
    let results = try step.run(inputs)
    guard case .texts(let list) = results[0] else { return ([], [], []) }
    let tensors = results.dropFirst().compactMap { if case .tensor(let tensor) = $0 { tensor } else { nil } }
    return (list.texts, tensors[0].integers, Array(tensors.dropFirst()))
  }

  private func step(
    _ order: TextPlaces.Order, behind known: KnownTexts = .empty, from start: String? = nil, after earlier: String? = nil
  ) -> TextPlaces {
    TextPlaces(
      behind: known, from: start, after: earlier, of: [.slot("x"), .constant(TextTensor(["a", "c"], [2]))], order: order,
      list: "list", end: "end", places: ["p", "q"])
  }

  @Test func anEmptyTextIsAtPlaceZeroAndOthersComeAsTheyAre() throws {
    let (list, end, places) = try run(step(.given), [.texts(words)])
    #expect(list.count == 7 && end == [8])
    #expect(places.map(\.integers) == [[1, 0, 2, 3, 4, 5], [6, 7]] && places[0].shape == [2, 3])
  }

  @Test func placesGoOnBehindThoseOfEarlierPiecesAndAListHasItsOwnTextsAlone() throws {
    let place = HostValue.tensor(Tensor([100] as [Int64], []))
    let (list, end, places) = try run(step(.given, from: "start"), [place, .texts(words)])
    #expect(list == ["b", "é", "e\u{301}", "b", "a", "a", "c"] && end == [107])
    #expect(places.map(\.integers) == [[100, 0, 101, 102, 103, 104], [105, 106]])
  }

  @Test func equalTextsHaveOnePlaceAndThoseOfOtherScalarsHaveOthers() throws {
    let results = try step(.distinct, behind: KnownTexts(["", "c"])).run([.texts(words)])
    let (first, places) = try directory(results)
    #expect(first.count == 4 && places.map(\.integers) == [[6], [2, 0, 3, 4, 2, 5], [5, 1]])
    let next = step(.distinct, behind: KnownTexts(["", "c"]), from: "start", after: "first")
    #expect(next.inputs == ["start", "first", "x"] && next.piece == .directory("list"))
    let start = HostValue.tensor(Tensor([9] as [Int64], []))
    for _ in 0..<2 {
      let more = try next.run([start, results[0], .texts(TextTensor(["z", "é", "z", "y", "c"], [5]))])
      let (second, others) = try directory(more)
      #expect(second.count == 6 && others.map(\.integers) == [[11], [9, 3, 9, 10, 1], [5, 1]])
      // What was made of it has left the first one as it was.
      #expect(first.texts(at: [3, 9, 5]) == ["é", nil, "a"])
      #expect(second.texts(at: [2, 9, 10, 6, 11, -1]) == ["b", "z", "y", nil, nil, nil])
    }
    let nearly = try directory(next.run([start, results[0], .texts(TextTensor(["y"], [1]))]))
    #expect(nearly.directory.texts(at: [9, 10]) == ["y", nil])
    #expect { try next.run([start, .texts(words), .texts(words)]) } throws: {
      "\($0)".contains("expected a directory of texts, got texts [2x3]")
    }
  }

  private func directory(_ results: [HostValue]) throws -> (directory: TextDirectory, tensors: [Tensor]) {
    guard case .directory(let directory) = results[0] else { throw StepError(step: "", slot: "", reason: "", remedy: nil) }
    return (directory, results.dropFirst().compactMap { if case .tensor(let tensor) = $0 { tensor } else { nil } })
  }

  @Test func aRowOfDirectoriesHoldsEachTextOnce() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      func seconds(_ count: Int) -> Double {
        let texts = (0..<count).map { level in (0..<200).map { "\(level) \($0)" } }
        let before = process.processorSeconds
        var directory = TextDirectory()
        for (level, texts) in texts.enumerated() {
          directory = directory.adding([texts], from: 1 + 200 * level) { _ in nil }.directory
        }
        #expect(directory.count == 200 * count)
        return process.processorSeconds - before
      }
      _ = seconds(100)
      // Eight times as many: looking through all that came before would be 64 times the work.
      let (few, many) = (seconds(100), seconds(800))
      #expect(many < 24 * few + 0.02, "\(few) s for 100, \(many) s for 800")
    }
  }

  @Test func sortedPlacesAreInTheOrderOfScalars() throws {
    let (list, _, places) = try run(step(.sorted, behind: .none), [.texts(words)])
    #expect(list.map { $0.unicodeScalars.map(\.value) } == [[], [0x61], [0x62], [0x63], [0x65, 0x301], [0xE9]])
    #expect(places.map(\.integers) == [[2, 0, 5, 4, 2, 1], [1, 3]])
  }

  @Test func placesHaveTheShapesOfTexts() throws {
    let number = HostType.tensor(TensorType(.int64, []))
    #expect(
      try step(.given).types([.texts([4, 0])])
        == [.unknown, number, .tensor(TensorType(.int64, [4, 0])), .tensor(TensorType(.int64, [2]))])
    #expect(try step(.given, from: "start").types([number, .texts([3])])[2] == .tensor(TensorType(.int64, [3])))
    #expect(try step(.given).types([.unknown])[2] == .unknown)
  }

  @Test func textsOfPlacesHaveTheirShapeAndOthersThanThereAreAreRefused() throws {
    let (one, two) = (TextTensor(["a", "b"], [2]), TextTensor(["c"], [1]))
    let start = HostValue.tensor(Tensor([5] as [Int64], []))
    let step = TextsAtPlaces(
      and: [.list("one", start: nil), .list("two", start: "start")], at: "p", output: "y")
    #expect(step.inputs == ["one", "start", "two", "p"])
    let places = Tensor([2, 0, 5, 1] as [Int64], [2, 2])
    let found = try step.run([.texts(one), start, .texts(two), .tensor(places)])[0]
    guard case .texts(let texts) = found else {
      Issue.record("no texts")
      return
    }
    #expect(texts == TextTensor(["b", "", "c", "a"], [2, 2]))
    #expect(try step.types([.unknown, .unknown, .unknown, .tensor(places.type)]) == [.texts([2, 2])])
    for place in [3, 4, 6, -1] as [Int64] {
      #expect { try step.run([.texts(one), start, .texts(two), .tensor(Tensor([place], [1]))]) } throws: {
        "\($0)".contains("no text at \(place)")
      }
    }
  }
}
