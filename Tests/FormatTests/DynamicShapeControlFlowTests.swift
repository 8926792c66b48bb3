import KelvinCoreML
import KelvinGraph
import KelvinHostOperations
import KelvinImport
import KelvinONNX
import KelvinReference
import TestSupport
import Testing

/// Branches and loops that no graph can hold for the sizes that it is built for.
@Suite struct DynamicShapeControlFlowTests {
  private func side(
    _ kind: String, _ inputs: [String], _ attributes: KeyValuePairs<String, ONNXFile.Attribute> = [:]
  ) -> [UInt8] {
    var file = ONNXFile()
    file.node(kind, inputs, [kind], attributes)
    file.rawOutput(Wire.message { $0.text(1, kind) })
    return file.graph.bytes
  }

  private func branch(_ then: [UInt8], _ otherwise: [UInt8], size: Int = 3) -> ONNXFile {
    var file = ONNXFile()
    file.opset = 20
    file.input("x", [size])
    file.input("condition", [], type: 9)
    file.integers("four", [4])
    file.node(
      "If", ["condition"], ["chosen"], ["then_branch": .graph(then), "else_branch": .graph(otherwise)])
    file.node("Neg", ["chosen"], ["y"])
    file.output("y", [])
    return file
  }

  private func function(_ file: ONNXFile) throws -> Function { try readONNX(Bytes(file.bytes), path: "m.onnx").main }

  private func parts(_ function: Function) throws -> [String] {
    try function.settled { function in
      _ = try function.evenGraphs(shapes: [:], evaluator: ReferenceEvaluator())
      return function.parts.map { part in
        switch part {
        case .graph: "graph"
        case .host: "step"
        case .loop: "loop"
        case .branch: "branch"
        }
      }
    }
  }

  @Test func branchRunsOnTheHostWhenItsShapesDiffer() throws {
    let twice = side("Concat", ["x", "x"], ["axis": .integer(0)])
    #expect(try parts(function(branch(twice, side("Relu", ["x"])))) == ["branch", "graph"])
    #expect(try parts(function(branch(side("Abs", ["x"]), side("Relu", ["x"])))) == ["graph"])
  }

  @Test func shapeMismatchErrorListsBothShapes() throws {
    let file = branch(side("Concat", ["x", "x"], ["axis": .integer(0)]), side("Relu", ["x"]))
    let function = try function(file)
    let flow = #expect(throws: DynamicShapeControlFlow.self) {
      try function.evenGraphs(shapes: [:], evaluator: ReferenceEvaluator())
    }
    let error = try #require(flow)
    #expect(error.description.contains("its branches give [float32[6]] and [float32[3]]"))
    // The branch is executed on the host once; a remaining shape mismatch is an error.
    let runningOnHost = try function.runningOnHost(error)
    #expect(runningOnHost.hostControlFlow == [error.name])
    #expect(throws: FormatError.self) { try runningOnHost.runningOnHost(error) }
  }

  /// `x` has three elements, not four. Taking the side is the error.
  @Test func branchForOtherSizesIsARefusedRegion() throws {
    let file = branch(side("Reshape", ["x", "four"]), side("Relu", ["x"]))
    let graph = try readONNX(Bytes(file.bytes), path: "m.onnx").graph()
    let regions = graph.nodes.flatMap(\.regions)
    #expect(regions.map { $0.refusal == nil } == [false, true])
    #expect(regions.first?.refusal?.contains("Reshape 'Reshape'") == true)
  }

  @Test func branchWithoutAFittingSideIsRefused() throws {
    let file = branch(side("Reshape", ["x", "four"]), side("Transpose", ["x"], ["perm": .integers([1, 0])]))
    #expect { try readONNX(Bytes(file.bytes), path: "m.onnx").graph() } throws: {
      "\($0)".contains("Transpose 'Transpose'")
    }
  }

  /// Each of them would have to be cut: a size that is found, one that is read from an input, an uneven branch.
  @Test func unusedNodesDoNotSplitTheGraph() throws {
    var file = branch(side("Abs", ["x"]), side("Relu", ["x"]))
    file.input("sizes", [1], type: ONNXFile.int64)
    file.node("NonZero", ["x"], ["places"])
    file.node("Shape", ["places"], ["counts"])
    file.node("ConstantOfShape", ["counts"], ["zeros"])
    file.node("Reshape", ["x", "sizes"], ["shaped"])
    file.node(
      "If", ["condition"], ["unused"],
      [
        "then_branch": .graph(side("Concat", ["x", "x"], ["axis": .integer(0)])),
        "else_branch": .graph(side("Relu", ["x"])),
      ])
    #expect(try parts(function(file)) == ["graph"])
  }

  @Test func manyDynamicBranchesMoveToTheHostTogether() throws {
    var file = ONNXFile()
    file.opset = 20
    file.input("x", [3])
    file.input("condition", [], type: 9)
    for number in 0..<40 {
      file.node(
        "If", ["condition"], ["chosen\(number)"],
        [
          "then_branch": .graph(side("Concat", ["x", "x"], ["axis": .integer(0)])),
          "else_branch": .graph(side("Relu", ["x"])),
        ])
    }
    file.node("Concat", (0..<40).map { "chosen\($0)" }, ["y"], ["axis": .integer(0)])
    file.output("y", [])
    var tries = 0
    let found = try function(file).settled { function in
      tries += 1
      _ = try function.evenGraphs(shapes: [:], evaluator: ReferenceEvaluator())
      return function
    }
    #expect(found.parts.count == 41 && tries < 20)
  }

  /// An unsupported operator is reported even there.
  @Test func unusedUnknownOperatorIsRefusedByName() throws {
    var file = branch(side("Abs", ["x"]), side("Relu", ["x"]))
    file.node("Unheard", ["x"], ["unused"])
    #expect { try readONNX(Bytes(file.bytes), path: "m.onnx").graph() } throws: { "\($0)".contains("Unheard") }
  }

  /// A program's branch on its input: one side takes as many elements of three as is said, the other adds them.
  private func program(taking count: Int, _ kind: String = "slice_by_size") -> MILFile {
    func side(_ write: (inout MILFile) -> Void) -> [UInt8] {
      var file = MILFile()
      write(&file)
      file.outputs = ["result"]
      return file.block
    }
    let sides = [
      side {
        $0.integers("begin", [0])
        $0.integers("size", [count])
        $0.operation(kind, ["x": ["x"], "begin": ["begin"], "size": ["size"]], "result", [3])
      },
      side { $0.operation("add", ["x": ["x"], "y": ["x"]], "result", [3]) },
    ]
    var file = MILFile()
    file.input("x", [3])
    file.input("threshold", [])
    file.number("zero", 0)
    file.operation("greater", ["x": ["threshold"], "y": ["zero"]], "condition", [], type: MILFile.bool)
    file.operation("cond", ["pred": ["condition"]], "y", [3], blocks: sides)
    file.output("y", [3])
    return file
  }

  @Test(arguments: [
    (3, "slice_by_size", nil), (4, "slice_by_size", "4 elements from 0 by 1 are outside it"),
    (3, "imagined", "ios16.imagined"),
  ])
  func untakenSideMayBeUnsupported(
    _ count: Int, _ kind: String, _ refusal: String?
  ) throws {
    let file = program(taking: count, kind)
    let model = try readCoreML(Bytes(file.bytes), path: "m", folder: ".", files: [])
    let graphs = try model.main.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator())
    let branch = try #require(graphs.first?.graph?.nodes.first { !$0.regions.isEmpty })
    #expect(branch.regions.map { $0.refusal != nil } == [refusal != nil, false])
    if let refusal { #expect(branch.regions[0].refusal?.contains(refusal) == true, "\(branch.regions)") }
  }
}
