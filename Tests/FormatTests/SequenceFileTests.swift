import KelvinGraph
import KelvinHostOperations
import KelvinImport
import KelvinONNX
import KelvinReference
import TestSupport
import Testing

/// Sequences in ONNX files, with numbers from a hostile one.
@Suite struct SequenceFileTests {
  private func value(_ name: String, _ type: Int, isSequence: Bool = false, shape: [Int] = []) -> [UInt8] {
    let tensor = Wire.message {
      $0.message(1) {
        $0.integer(1, type)
        $0.message(2) { for size in shape { $0.message(1) { $0.integer(1, size) } } }
      }
    }
    return Wire.message {
      $0.text(1, name)
      $0.bytes(2, isSequence ? Wire.message { $0.message(4) { $0.bytes(1, tensor) } } : tensor)
    }
  }

  /// A loop whose iterations each append `x` to a sequence, and the final length of the sequence.
  private func loop(trips: Int?, goesOn: String = "condition") -> ONNXFile {
    var body = Wire()
    body.message(1) {
      $0.text(1, "before")
      $0.text(1, "x")
      $0.text(2, "after")
      $0.text(4, "SequenceInsert")
    }
    body.message(1) {
      $0.text(1, goesOn)
      $0.text(2, "goes_on")
      $0.text(4, goesOn == "condition" ? "Identity" : "Cast")
      if goesOn != "condition" {
        $0.message(5) {
          $0.text(1, "to")
          $0.integer(3, 9)
        }
      }
    }
    for input in [value("trip", 7), value("condition", 9), value("before", 1, isSequence: true)] {
      body.bytes(11, input)
    }
    for output in [value("goes_on", 9), value("after", 1, isSequence: true)] { body.bytes(12, output) }
    var file = ONNXFile()
    file.input("x", [1])
    if let trips { file.integers("trips", [trips], []) }
    file.node("SequenceEmpty", [], ["empty"])
    file.node("Loop", [trips == nil ? "" : "trips", "", "empty"], ["result"], ["body": .graph(body.bytes)])
    file.node("SequenceLength", ["result"], ["y"])
    file.output("y", [], type: ONNXFile.int64)
    return file
  }

  private func lengths(_ file: ONNXFile) throws -> [Int] {
    let graph = try readONNX(Bytes(file.bytes), path: "m.onnx").graph()
    return try run(graph, [Tensor([1] as [Float], [1])])[0].integers
  }

  @Test func loopGivesOneElementPerIteration() throws {
    #expect(try lengths(loop(trips: 0)) == [0])
    #expect(try lengths(loop(trips: 7)) == [7])
    #expect(try lengths(loop(trips: -3)) == [0])
  }

  @Test(arguments: [1 << 20, 1 << 40, Int.max, nil])
  func endlessLoopIsRefused(trips: Int?) {
    #expect(throws: (any Error).self) { try lengths(loop(trips: trips)) }
  }

  /// The host executes the loop: the length of the sequence is known after the iterations.
  @Test func dataDependentLoopIsASeparatePart() throws {
    let program = try readONNX(Bytes(loop(trips: 3, goesOn: "x").bytes), path: "m.onnx")
    let parts = try #require(program.functions[program.defaultFunction]).parts
    guard parts.count == 3, case .loop(let loop) = parts[1] else {
      Issue.record("expected the start of a loop, the loop and what reads its sequence, got \(parts.map(\.place))")
      return
    }
    #expect(loop.carried.map(\.given) == ["before#elements", "before#layout"])
    #expect(loop.carried.map(\.result) == ["result#elements", "result#layout"])
    #expect(loop.limit == "trips" && loop.condition == nil && loop.captured == ["x"])
    #expect(parts[2].inputs.contains("result#layout"))
  }

  /// A graph that reads a sequence is built for its layout alone.
  @Test func sequenceIsTwoGraphValues() throws {
    var file = ONNXFile()
    file.rawInput(value("s", 1, isSequence: true))
    file.integers("last", [-1], [])
    file.node("SequenceAt", ["s", "last"], ["y"])
    file.node("SequenceErase", ["s", "last"], ["rest"])
    file.output("y", [2])
    file.rawOutput(value("rest", 1, isSequence: true))
    let program = try readONNX(Bytes(file.bytes), path: "m.onnx")
    let function = try #require(program.functions[program.defaultFunction])
    #expect(function.inputs.map(\.type) == [.tensors(.float32)])
    #expect(function.outputs.map(\.type) == [.tensor(.float32, [.fixed(2)]), .tensors(.float32)])
    #expect(function.hostOperations.map { type(of: $0).name } == ["sequence_parts", "sequence_of_parts"])
    let part = try #require(function.graphParts.first)
    #expect(Set(part.inputs) == ["s#elements", "s#layout"] && part.valueDependent == ["s#layout"])
    let layout = try #require(SequenceLayout(.sequence, [[3], [0], [2]])).tensor
    func built(_ layout: Tensor, elements: Int) throws -> Graph {
      try part.source.graph(
        shapes: [:], computed: ["s#elements": TensorType(.float32, [elements])], values: ["s#layout": layout],
        evaluator: ReferenceEvaluator())
    }
    let results = try run(try built(layout, elements: 5), [Tensor([1, 2, 3, 4, 5] as [Float], [5])])
    #expect(results.map(\.floats)[0] == [4, 5] && results.map(\.floats)[1] == [1, 2, 3])
    #expect(results[2].integers == [2, 2, 1, 3, 1, 0])
    #expect(throws: (any Error).self) { try built(layout, elements: 4) }
    #expect(throws: (any Error).self) { try built(Tensor([2, 0] as [Int64], [2]), elements: 0) }
    #expect(throws: (any Error).self) { try built(Tensor([9, 9] as [Int64], [2]), elements: 5) }
  }
}
