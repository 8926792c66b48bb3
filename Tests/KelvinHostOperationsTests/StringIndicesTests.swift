import KelvinGraph
import KelvinHostOperations
import TestSupport
import Testing

/// Strings as indices in string tables, and strings at indices.
@Suite struct StringIndicesTests {
  private let words = StringTensor(["b", "", "é", "e\u{301}", "b", "a"], [2, 3])

  /// - Parameter inputs: the operand, behind the slots of what comes before.
  private func run(_ step: StringIndices, _ inputs: [HostValue]) throws -> (
    list: [String], end: [Int], places: [Tensor]
  ) {
    let results = try step.run(inputs)
    guard case .strings(let list) = results[0] else { return ([], [], []) }
    let tensors = results.dropFirst().compactMap { if case .tensor(let tensor) = $0 { tensor } else { nil } }
    return (list.strings, tensors[0].integers, Array(tensors.dropFirst()))
  }

  private func step(
    _ order: StringIndices.Order, behind known: KnownStrings = .empty, from start: String? = nil,
    after earlier: String? = nil
  ) -> StringIndices {
    StringIndices(
      behind: known, from: start, after: earlier, of: [.slot("x"), .constant(StringTensor(["a", "c"], [2]))],
      order: order,
      list: "list", end: "end", places: ["p", "q"])
  }

  @Test func anEmptyStringIsAtPlaceZeroAndOthersComeAsTheyAre() throws {
    let (list, end, places) = try run(step(.given), [.strings(words)])
    #expect(list.count == 7 && end == [8])
    #expect(places.map(\.integers) == [[1, 0, 2, 3, 4, 5], [6, 7]] && places[0].shape == [2, 3])
  }

  @Test func placesGoOnBehindThoseOfEarlierPiecesAndAListHasItsOwnStringsAlone() throws {
    let place = HostValue.tensor(Tensor([100] as [Int64], []))
    let (list, end, places) = try run(step(.given, from: "start"), [place, .strings(words)])
    #expect(list == ["b", "é", "e\u{301}", "b", "a", "a", "c"] && end == [107])
    #expect(places.map(\.integers) == [[100, 0, 101, 102, 103, 104], [105, 106]])
  }

  @Test func equalStringsHaveOnePlaceAndThoseOfOtherScalarsHaveOthers() throws {
    let results = try step(.distinct, behind: KnownStrings(["", "c"])).run([.strings(words)])
    let (first, places) = try table(results)
    #expect(first.count == 4 && places.map(\.integers) == [[6], [2, 0, 3, 4, 2, 5], [5, 1]])
    let next = step(.distinct, behind: KnownStrings(["", "c"]), from: "start", after: "first")
    #expect(next.inputs == ["start", "first", "x"] && next.piece == .table("list"))
    let start = HostValue.tensor(Tensor([9] as [Int64], []))
    for _ in 0..<2 {
      let more = try next.run([start, results[0], .strings(StringTensor(["z", "é", "z", "y", "c"], [5]))])
      let (second, others) = try table(more)
      #expect(second.count == 6 && others.map(\.integers) == [[11], [9, 3, 9, 10, 1], [5, 1]])
      // The first table is unchanged by the one derived from it.
      #expect(first.strings(at: [3, 9, 5]) == ["é", nil, "a"])
      #expect(second.strings(at: [2, 9, 10, 6, 11, -1]) == ["b", "z", "y", nil, nil, nil])
    }
    let nearly = try table(next.run([start, results[0], .strings(StringTensor(["y"], [1]))]))
    #expect(nearly.table.strings(at: [9, 10]) == ["y", nil])
    #expect { try next.run([start, .strings(words), .strings(words)]) } throws: {
      "\($0)".contains("expected a string table, got strings [2x3]")
    }
  }

  private func table(_ results: [HostValue]) throws -> (table: StringTable, tensors: [Tensor]) {
    guard case .table(let table) = results[0] else {
      throw HostOperationError(step: "", slot: "", reason: "", remedy: nil)
    }
    return (table, results.dropFirst().compactMap { if case .tensor(let tensor) = $0 { tensor } else { nil } })
  }

  @Test func aRowOfTablesHoldsEachStringOnce() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      func seconds(_ count: Int) -> Double {
        let strings = (0..<count).map { level in (0..<200).map { "\(level) \($0)" } }
        let before = process.processorSeconds
        var table = StringTable()
        for (level, strings) in strings.enumerated() {
          table = table.adding([strings], from: 1 + 200 * level) { _ in nil }.table
        }
        #expect(table.count == 200 * count)
        return process.processorSeconds - before
      }
      _ = seconds(100)
      // Eight times as many: quadratic growth would be 64 times the work.
      let (few, many) = (seconds(100), seconds(800))
      #expect(many < 24 * few + 0.02, "\(few) s for 100, \(many) s for 800")
    }
  }

  @Test func sortedIndicesFollowScalarOrder() throws {
    let (list, _, places) = try run(step(.sorted, behind: .none), [.strings(words)])
    #expect(list.map { $0.unicodeScalars.map(\.value) } == [[], [0x61], [0x62], [0x63], [0x65, 0x301], [0xE9]])
    #expect(places.map(\.integers) == [[2, 0, 5, 4, 2, 1], [1, 3]])
  }

  @Test func placesHaveTheShapesOfStrings() throws {
    let number = HostType.tensor(TensorType(.int64, []))
    #expect(
      try step(.given).types([.strings([4, 0])])
        == [.unknown, number, .tensor(TensorType(.int64, [4, 0])), .tensor(TensorType(.int64, [2]))])
    #expect(try step(.given, from: "start").types([number, .strings([3])])[2] == .tensor(TensorType(.int64, [3])))
    #expect(try step(.given).types([.unknown])[2] == .unknown)
  }

  @Test func stringsOfPlacesHaveTheirShapeAndOthersThanThereAreAreRefused() throws {
    let (one, two) = (StringTensor(["a", "b"], [2]), StringTensor(["c"], [1]))
    let start = HostValue.tensor(Tensor([5] as [Int64], []))
    let step = StringsAtIndices(
      and: [.list("one", start: nil), .list("two", start: "start")], at: "p", output: "y")
    #expect(step.inputs == ["one", "start", "two", "p"])
    let places = Tensor([2, 0, 5, 1] as [Int64], [2, 2])
    let found = try step.run([.strings(one), start, .strings(two), .tensor(places)])[0]
    guard case .strings(let strings) = found else {
      Issue.record("no strings")
      return
    }
    #expect(strings == StringTensor(["b", "", "c", "a"], [2, 2]))
    #expect(try step.types([.unknown, .unknown, .unknown, .tensor(places.type)]) == [.strings([2, 2])])
    for place in [3, 4, 6, -1] as [Int64] {
      #expect { try step.run([.strings(one), start, .strings(two), .tensor(Tensor([place], [1]))]) } throws: {
        "\($0)".contains("no string at \(place)")
      }
    }
  }
}
