import KelvinGraph
import KelvinSteps
import Testing

/// Texts as places in lists, and texts of places.
@Suite struct TextPlacesTests {
  private let words = TextTensor(["b", "", "é", "e\u{301}", "b", "a"], [2, 3])

  private func run(_ step: TextPlaces, _ inputs: [TextTensor]) throws -> (list: [String], places: [Tensor]) {
    let results = try step.run(inputs.map { .texts($0) })
    guard case .texts(let list) = results[0] else { return ([], []) }
    return (list.texts, results.dropFirst().compactMap { if case .tensor(let tensor) = $0 { tensor } else { nil } })
  }

  private func step(_ order: TextPlaces.Order, after beginning: TextTensor = TextPlaces.empty) -> TextPlaces {
    TextPlaces(
      after: .constant(beginning), of: [.slot("x"), .constant(TextTensor(["a", "c"], [2]))], order: order, list: "list",
      places: ["p", "q"])
  }

  @Test func anEmptyTextIsAtPlaceZeroAndOthersComeAsTheyAre() throws {
    let (list, places) = try run(step(.given), [words])
    #expect(list.map { Array($0.unicodeScalars) }.count == 8)
    #expect(places.map(\.integers) == [[1, 0, 2, 3, 4, 5], [6, 7]] && places[0].shape == [2, 3])
  }

  @Test func equalTextsHaveOnePlaceAndThoseOfOtherScalarsHaveOthers() throws {
    let (list, places) = try run(step(.distinct, after: TextTensor(["", "c"], [2])), [words])
    #expect(list.count == 6 && list[1] == "c")
    #expect(places.map(\.integers) == [[2, 0, 3, 4, 2, 5], [5, 1]])
  }

  @Test func sortedPlacesAreInTheOrderOfScalars() throws {
    let (list, places) = try run(step(.sorted), [words])
    #expect(list.map { $0.unicodeScalars.map(\.value) } == [[], [0x61], [0x62], [0x63], [0x65, 0x301], [0xE9]])
    #expect(places.map(\.integers) == [[2, 0, 5, 4, 2, 1], [1, 3]])
  }

  @Test func placesHaveTheShapesOfTexts() throws {
    #expect(
      try step(.given).types([.texts([4, 0])])
        == [.unknown, .tensor(TensorType(.int64, [4, 0])), .tensor(TensorType(.int64, [2]))])
    #expect(try step(.given).types([.unknown])[1] == .unknown)
  }

  @Test func textsOfPlacesHaveTheirShapeAndOthersThanThereAreAreRefused() throws {
    let list = TextTensor(["", "a", "b"], [3])
    let step = TextsAtPlaces(.slot("list"), at: "p", output: "y")
    let places = Tensor([2, 0, 1, 1] as [Int64], [2, 2])
    guard case .texts(let texts) = try step.run([.texts(list), .tensor(places)])[0] else { return }
    #expect(texts == TextTensor(["b", "", "a", "a"], [2, 2]))
    #expect(try step.types([.unknown, .tensor(places.type)]) == [.texts([2, 2])])
    for place in [3, -1] as [Int64] {
      #expect { try step.run([.texts(list), .tensor(Tensor([place], [1]))]) } throws: {
        "\($0)".contains("no text at \(place) of 3")
      }
    }
  }
}
