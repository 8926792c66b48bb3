import FoundationEssentials
import KelvinBasics
import KelvinEngine
import KelvinGraph
import KelvinHostOperations
import KelvinImport
import KelvinONNX
import KelvinReference
import TestSupport
import Testing

/// Models with strings, dictionaries or lists between their tensors, and their division into graphs and host
/// operations.
@Suite struct PartTests {
  private static let folder = "\(Shared.packageRoot)/Tests/Vectors/Parts"

  private static func parts(_ file: String) throws -> [String] {
    try readModel(at: "\(folder)/\(file)").main.parts.map { part in
      switch part {
      case .graph: "graph"
      case .host(let step): type(of: step).name
      case .loop: "loop"
      case .branch: "branch"
      }
    }
  }

  @Test func graphIsSplitAroundStringOperations() throws {
    #expect(
      try Self.parts("words_in_turn.onnx") == ["value_map", "graph", "value_map", "value_map", "graph"])
    #expect(
      try Self.parts("labels_in_the_middle.mlmodel")
        == ["value_map", "joining", "linear_model", "top_label", "value_map", "scaling"])
  }

  @Test func graphIsNotSplitForStringsAtItsEnds() throws {
    for name in ["sklearn_one_hot.onnx", "sklearn_ordinal.onnx", "sklearn_dictionary.onnx"] {
      #expect(try Self.parts(name).count { $0 == "graph" } == 1, "\(name)")
    }
    #expect(try Self.parts("categorical_mapping.mlmodel") == ["value_map"])
    #expect(try Self.parts("dictionary_vectorizer.mlmodel") == ["dictionary_vector", "linear_model"])
  }

  @Test func laterGraphsOfKnownSizesAreBuilt() throws {
    let function = try readModel(at: "\(Self.folder)/words_in_turn.onnx").main
    let built = try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator())
    #expect(built.map(\.part.name) == ["main1", "main2"])
    #expect(built[0].computed == ["indices": TensorType(.int64, [1])])
    let second = try #require(built[1].graph)
    #expect(second.types(second.outputs) == [TensorType(.int64, [1])])
    let seven = try function.builtGraphs(shapes: ["words": [7]], evaluator: ReferenceEvaluator())
    #expect(seven[1].computed == ["codes": TensorType(.int64, [7])])
  }

  @Test func stringsForANumericOperatorAreNamed() throws {
    var file = ONNXFile()
    file.input("x", [1], type: 8)
    file.node("Relu", ["x"], ["y"])
    file.output("y", [1], type: 8)
    #expect { try readONNX(Bytes(file.bytes), path: "texts.onnx") } throws: { error in
      "\(error)".contains("Relu of a value that is not a tensor ('x')")
    }
  }

  private static func moving(_ file: String) throws -> Function {
    try readModel(at: "\(Shared.packageRoot)/Tests/Vectors/Texts/\(file).onnx").main
  }

  @Test func stringMovesAreOneGraphOverIndices() throws {
    for name in ["transposed", "sliced", "loops", "lists"] {
      let parts = try Self.moving(name).parts
      #expect(parts.count { if case .host(let step) = $0 { step is StringIndices } else { false } } <= 2, "\(name)")
    }
    let parts = try Self.moving("transposed").parts
    #expect(parts.first?.place == "step string_indices" && parts.count == 5)
    guard case .graph = parts[1] else {
      Issue.record("no graph follows the places")
      return
    }
    #expect(parts.dropFirst(2).map(\.place) == [String](repeating: "step strings_at_indices", count: 3))
  }

  @Test func stringIndicesContinueAcrossLevels() throws {
    let steps = try Self.moving("levels").hostOperations.compactMap { $0 as? StringIndices }
    #expect(steps.count > 1 && steps[0].start == nil)
    for (step, before) in zip(steps.dropFirst(), steps) { #expect(step.start == before.end) }
  }

  @Test func stringsAreSearchedOnlyInTheirSourceTables() throws {
    var file = ONNXFile()
    file.opset = 20
    file.input("x", [2, 2], type: 8)
    for level in 0..<40 {
      let x = level == 0 ? "x" : "t\(level - 1)"
      file.node("StringConcat", [x, x], ["c\(level)"])
      file.node("Transpose", ["c\(level)"], ["t\(level)"])
    }
    file.output("t39", [2, 2], type: 8)
    let steps = try readONNX(Bytes(file.bytes), path: "chain.onnx").main.hostOperations
    let (placed, found) = (steps.compactMap { $0 as? StringIndices }, steps.compactMap { $0 as? StringsAtIndices })
    #expect(placed.count == 40 && found.map(\.pieces) == placed.map { [$0.piece] })
  }

  @Test func generatedNamesDifferFromFileNames() throws {
    var file = ONNXFile()
    file.input("x", [2, 2], type: 8)
    for name in ["x#places", "a###b", "#0.texts"] { file.input(name, [1]) }
    file.node("Transpose", ["x"], ["y"])
    file.output("y", [2, 2], type: 8)
    let function = try readONNX(Bytes(file.bytes), path: "names.onnx").main
    let written = function.parts.flatMap(\.outputs)
    #expect(written.contains("x####places") && Set(written).isDisjoint(with: function.inputs.map(\.name)))
  }

  /// A reshape to pairs of numbers or strings of any number, of which one is the usual number.
  @Test(arguments: [ONNXFile.float, 8]) func unusualSizesAreResolvedAtRunTime(type: Int) throws {
    func file(_ shape: [Int], reversed: Bool) -> ONNXFile {
      var file = ONNXFile()
      file.input("x", [-1], type: type)
      file.initializer(ONNXFile.tensor("pairs", shape))
      for (name, value) in [("last", -1), ("far", -99), ("zero", 0)] {
        file.initializer(ONNXFile.tensor(name, [value]))
      }
      if reversed { file.node("Slice", ["x", "last", "far", "zero", "last"], ["r"]) }
      file.node("Reshape", [reversed ? "r" : "x", "pairs"], ["y"])
      file.output("y", [-1, 2], type: type)
      return file
    }
    for reversed in [false, true] {
      let function = try readONNX(Bytes(file([-1, 2], reversed: reversed).bytes), path: "open.onnx").main
      let built = try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator())
      #expect(built.allSatisfy { $0.graph == nil })
      let four = try function.builtGraphs(shapes: ["x": [4]], evaluator: ReferenceEvaluator())
      #expect(four.allSatisfy { $0.graph != nil })
      #expect(throws: (any Error).self) {
        try function.builtGraphs(shapes: ["x": [3]], evaluator: ReferenceEvaluator())
      }
    }
  }

  @Test func damagedStringConstantIsRefused() throws {
    var file = ONNXFile()
    let damaged = Wire.message {
      $0.packed(1, [3])
      $0.integer(2, 8)
      $0.bytes(6, Array("one".utf8))
    }
    file.input("x", [1], type: 8)
    file.node("Constant", [], ["c"], ["value": .tensor(damaged)])
    file.node("Concat", ["x", "c"], ["y"], ["axis": .integer(0)])
    file.output("y", [4], type: 8)
    #expect { try readONNX(Bytes(file.bytes), path: "damaged.onnx") } throws: {
      "\($0)".contains("its shape is 3, it has 1 strings")
    }
  }

  /// A branch of which one side has a string operator that sub-graphs do not support.
  private func branch(isTaken: Bool, isKnown: Bool) -> ONNXFile {
    func side(_ kind: String) -> [UInt8] {
      var file = ONNXFile()
      file.node(kind, kind == "Identity" ? ["x"] : ["x", "x"], [kind])
      file.output(kind, [2], type: 8)
      return file.graph.bytes
    }
    var file = ONNXFile()
    file.opset = 20
    file.input("x", [2], type: 8)
    if isKnown {
      file.initializer(ONNXFile.tensor("c", [isTaken ? 1 : 0], []))
      file.node("Cast", ["c"], ["condition"], ["to": .integer(9)])
    } else {
      file.input("condition", [], type: 9)
    }
    file.node(
      "If", ["condition"], ["y"],
      ["then_branch": .graph(side("StringConcat")), "else_branch": .graph(side("Identity"))])
    file.output("y", [2], type: 8)
    return file
  }

  @Test func subgraphStringComputationIsRefusedWhenRun() throws {
    func graphs(_ file: ONNXFile) throws -> [Function.BuiltGraph] {
      try readONNX(Bytes(file.bytes), path: "branch.onnx").main.builtGraphs(
        shapes: [:], evaluator: ReferenceEvaluator())
    }
    #expect(try graphs(branch(isTaken: false, isKnown: true)).count == 1)
    #expect(try graphs(branch(isTaken: true, isKnown: false)).count == 1)
    #expect { try graphs(branch(isTaken: true, isKnown: true)) } throws: {
      "\($0)".contains("StringConcat of strings in a sub-graph")
    }
  }

  /// By outputs of the branch, whose sides have two each: the second of a node that has one, or none at all.
  @Test(arguments: [["y", "z"], ["y"], []])
  func surplusStringOutputsOfABranchAreRefused(_ outputs: [String]) throws {
    func side(_ kind: String) -> [UInt8] {
      var file = ONNXFile()
      for name in ["first", "second"] {
        file.node(kind, ["x"], [name])
        file.output(name, [2], type: 8)
      }
      return file.graph.bytes
    }
    var file = ONNXFile()
    file.opset = 20
    file.input("x", [2], type: 8)
    file.input("condition", [], type: 9)
    file.node("Identity", ["x"], ["same"])
    file.node(
      "If", ["condition"], outputs, ["then_branch": .graph(side("Identity")), "else_branch": .graph(side("Identity"))])
    for name in ["same"] + outputs { file.output(name, [2], type: 8) }
    func read() throws {
      _ = try readONNX(Bytes(file.bytes), path: "branch.onnx").main.builtGraphs(
        shapes: [:], evaluator: ReferenceEvaluator())
    }
    if outputs.count == 2 {
      try read()
    } else {
      #expect { try read() } throws: { "\($0)".contains("its branch has 2 outputs, expected \(outputs.count)") }
    }
  }

  @Test func mixedNumbersAndStringsAreRefused() throws {
    var file = ONNXFile()
    file.input("x", [1], type: 8)
    file.input("n", [1])
    file.input("c", [1], type: 9)
    file.node("Where", ["c", "x", "n"], ["y"])
    file.output("y", [1], type: 8)
    #expect { try readONNX(Bytes(file.bytes), path: "texts.onnx") } throws: {
      "\($0)".contains("'n' is a tensor of numbers, mixed with strings")
    }
  }
}

extension HeavyTests {
  @Suite struct PartHostileTests {
    private static let fixtures: [(name: String, bytes: [UInt8])] = {
      ["Parts", "Classical", "Texts", "Overrides", "Extensions"].flatMap { name in
        let folder = "\(Shared.packageRoot)/Tests/Vectors/\(name)"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
          .filter { $0.hasSuffix(".onnx") }
          .compactMap { name in (try? readFile("\(folder)/\(name)")).map { (name, $0) } }
      }
    }()

    @Test func aDamagedStringModelIsRefusedOrRead() async {
      await #expect(processExitsWith: .success) {
        var endings: [Ending: Int] = [:]
        for seed in Tier.seeds(UInt64(600), of: 6000) {
          let (name, bytes) = PartHostileTests.fixtures[Int(seed) % PartHostileTests.fixtures.count]
          var generator = SeededGenerator(seed: seed)
          if let ending = settleONNX(mutate(bytes, &generator), "\(name), seed \(seed)") {
            endings[ending, default: 0] += 1
          }
        }
        #expect(endings[.graph] ?? 0 > 0 && endings[.refused] ?? 0 > 0)
      }
    }
  }
}
