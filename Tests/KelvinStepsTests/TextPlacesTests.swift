import KelvinGraph
import KelvinSteps
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
    _ order: TextPlaces.Order, behind known: KnownTexts = .empty, from start: String? = nil, after earlier: [TextPiece] = []
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
    let (list, end, places) = try run(step(.distinct, behind: KnownTexts(["", "c"])), [.texts(words)])
    #expect(list.count == 4 && end == [6])
    #expect(places.map(\.integers) == [[2, 0, 3, 4, 2, 5], [5, 1]])
    let earlier = step(
      .distinct, from: "start", after: [TextPiece(start: nil, list: "one"), TextPiece(start: "middle", list: "two")])
    #expect(earlier.inputs == ["start", "one", "middle", "two", "x"])
    let (more, _, others) = try run(
      earlier,
      [
        .tensor(Tensor([9] as [Int64], [])), .texts(TextTensor(["a", "z"], [2])), .tensor(Tensor([5] as [Int64], [])),
        .texts(TextTensor(["y", "b"], [2])), .texts(words),
      ])
    #expect(more.map { Array($0.unicodeScalars).count } == [1, 2, 1])
    #expect(others.map(\.integers) == [[6, 0, 9, 10, 6, 1], [1, 11]])
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
      and: [TextPiece(start: nil, list: "one"), TextPiece(start: "start", list: "two")], at: "p", output: "y")
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
