import KelvinGraph
import KelvinHostOperations
import Testing

/// The rows that non-maximum suppression kept.
@Suite struct KeptBoxesTests {
  private let boxes = HostValue.tensor(Tensor((0..<12).map(Float.init), [1, 3, 4]))
  private let scores = HostValue.tensor(Tensor([0.9, 0.1, 0.8, 0.2, 0, 0] as [Float], [1, 3, 2]))

  private func kept(_ count: Int, rows: ClosedRange<Int>) throws -> [Tensor] {
    let step = KeptBoxes(
      labels: nil, boxes: "b", scores: "s", count: "n", boxesOutput: "boxes", scoresOutput: "scores", rows: rows)
    let number = Tensor(TensorType(.int32, [1]), rounding: [Double(count)])
    return try step.run([boxes, scores, .tensor(number)]).compactMap {
      if case .tensor(let found) = $0 { found } else { nil }
    }
  }

  @Test func boxesMatchTheCount() throws {
    let found = try kept(2, rows: 0...Int.max)
    #expect(found.map(\.shape) == [[2, 4], [2, 2]])
    #expect(found[0].floats == (0..<8).map(Float.init) && found[1].floats == [0.9, 0.1, 0.8, 0.2])
    #expect(try kept(0, rows: 0...Int.max).map(\.shape) == [[0, 4], [0, 2]])
  }

  @Test func boxesArePaddedOrCutToTheDeclaredRows() throws {
    let padded = try kept(1, rows: 5...5)
    #expect(padded[0].shape == [5, 4] && padded[0].floats[4...].prefix(8) == [4, 5, 6, 7, 8, 9, 10, 11])
    #expect(padded[0].floats.suffix(8).allSatisfy { $0 == 0 })
    #expect(try kept(3, rows: 0...1).map(\.shape) == [[1, 4], [1, 2]])
  }

  @Test func boxCountIsBounded() throws {
    #expect(try kept(.max >> 32, rows: 0...Int.max)[0].shape == [3, 4])
    #expect(try kept(-4, rows: 0...Int.max)[0].shape == [0, 4])
  }
}
