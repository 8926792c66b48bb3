import KelvinGraph
import KelvinHostOperations
import Testing

/// Labels out of scores.
@Suite struct LabelTests {
  private func top(_ scores: [Float], _ labels: Labels) throws -> HostValue {
    let step = TopLabel(labels, scores: "scores", output: "label")
    return try step.run([.tensor(Tensor(scores, [scores.count]))])[0]
  }

  private func entries(_ scores: [Float], _ labels: Labels) throws -> [String: Double] {
    let step = LabelDictionary(labels, scores: "scores", output: "all")
    guard case .dictionary(let found) = try step.run([.tensor(Tensor(scores, [1, scores.count]))])[0] else {
      return [:]
    }
    return Dictionary(uniqueKeysWithValues: zip(found.keys.strings, found.values))
  }

  private func string(_ value: HostValue) -> String? {
    if case .strings(let strings) = value { strings.strings.first } else { nil }
  }

  @Test func theMostProbableLabelWins() throws {
    #expect(string(try top([0.1, 0.7, 0.2], .strings(["a", "b", "c"]))) == "b")
    #expect(string(try top([0.5, 0.5], .strings(["a", "b"]))) == "a", "of equal scores the first")
    guard case .tensor(let number) = try top([0.1, 0.7], .integers([7, -9])) else {
      Issue.record("a whole number is a tensor")
      return
    }
    #expect(number.integers == [-9] && number.shape == [1])
  }

  @Test func largerScoreOfADuplicateLabelIsKept() throws {
    let found = try entries([0.25, 0.5, 0.125], .strings(["crane", "b", "crane"]))
    #expect(found == ["crane": 0.25, "b": 0.5])
    #expect(try entries([0.125, 0.5, 0.25], .strings(["crane", "b", "crane"]))["crane"] == 0.25)
  }

  @Test func nanScoresAreKeptButNeverWin() throws {
    let labels = Labels.strings(["a", "b", "c", "b"])
    #expect(string(try top([.nan, 2, 1, .nan], labels)) == "b")
    let found = try entries([.nan, 2, 1, .nan], labels)
    #expect(found["a"]?.isNaN == true && found["b"] == 2 && found["c"] == 1)
  }

  @Test func everyRowOfAZipMapIsADictionary() throws {
    let step = LabelDictionary(.integers([3, 5]), scores: "scores", output: "all", rows: .each)
    guard case .sequence(let rows) = try step.run([.tensor(Tensor([1, 2, 3, 4] as [Float], [2, 2]))])[0] else {
      Issue.record("rows are a sequence")
      return
    }
    let values = rows.compactMap { row in if case .dictionary(let entries) = row { entries.values } else { nil } }
    #expect(values == [[1, 2], [3, 4]])
    #expect(try step.types([.tensor(TensorType(.float32, [2, 2]))]) == [.sequence])
  }

  @Test func scoreCountMustMatchTheLabels() throws {
    let labels = Labels.strings(["a", "b"])
    #expect { try top([1, 2, 3, 4], labels) } throws: { "\($0)".contains("4 elements for 2 labels") }
    #expect { try entries([1, 2, 3], labels) } throws: { "\($0)".contains("3 elements for 2 labels") }
    #expect { try entries([], .strings([])) } throws: { "\($0)".contains("0 labels") }
    let first = TopLabel(labels, scores: "scores", output: "label", readsFirstRow: true)
    #expect(string(try first.run([.tensor(Tensor([1, 2, 9, 0] as [Float], [2, 2]))])[0]) == "b")
    #expect(throws: HostOperationError.self) { try first.types([.tensor(TensorType(.float32, [3]))]) }
    #expect { try first.run([.strings(StringTensor(["a"], [1]))]) } throws: {
      "\($0)".contains("expected a tensor, got a string")
    }
  }

  @Test func givenLabelsReplaceTheModelLabels() {
    let labels = Labels.strings(["a", "b"])
    let function = Function(
      inputs: [Feature(name: "scores", type: .tensor(.float32, [.fixed(2)]))],
      outputs: [Feature(name: "label", type: .string), Feature(name: "all", type: .dictionary(keys: .string))],
      parts: [
        .host(TopLabel(labels, scores: "scores", output: "label")),
        .host(LabelDictionary(labels, scores: "scores", output: "all")),
      ])
    #expect(function.classification?.labelOutput == "label" && function.classification?.probabilitiesOutput == "all")
    let other = function.relabeled(.strings(["x", "y"]))
    #expect(other.classification?.labels == .strings(["x", "y"]))
    #expect((other.hostOperations[0] as? TopLabel)?.labels == .strings(["x", "y"]))
  }
}
