import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinReference
import Testing

/// Sizes that an ONNX file declares as 0: none to its specification, any size to several exporters.
@Suite struct DeclaredZeroTests {
  private func program(_ file: ONNXFile) throws -> ModelProgram { try readONNX(Bytes(file.bytes), path: "m.onnx") }

  private func shapes(_ graph: Graph) -> [Shape] { graph.outputs.map { graph[$0].type.shape } }

  private func splits(_ shape: [Int], _ sizes: [Int], axis: Int = 0, outputs: [Int] = [0]) -> ONNXFile {
    var file = ONNXFile()
    file.input("x", shape)
    file.integers("sizes", sizes)
    file.node("Split", ["x", "sizes"], sizes.indices.map { "y\($0)" }, ["axis": .integer(axis)])
    for index in sizes.indices { file.output("y\(index)", outputs) }
    return file
  }

  @Test func declaredZeroIsEmptyWhenConstantsRequireIt() throws {
    let graph = try program(splits([0], [0, 0, 0])).graph()
    #expect(shapes(graph) == [[0], [0], [0]])
    #expect(try run(graph, [Tensor([] as [Float], [0])]).map(\.count) == [0, 0, 0])
    var reshaped = ONNXFile()
    reshaped.input("x", [0, 3, 4])
    reshaped.integers("shape", [3, 4, 0])
    reshaped.node("Reshape", ["x", "shape"], ["y"], ["allowzero": .integer(1)])
    reshaped.output("y", [3, 4, 0])
    #expect(try shapes(program(reshaped).graph()) == [[3, 4, 0]])
    #expect(try shapes(program(splits([2, 0], [0, 0], axis: 1, outputs: [2, 0])).graph()) == [[2, 0], [2, 0]])
  }

  @Test func declaredZeroIsAnySizeWhenOthersFit() throws {
    var file = ONNXFile()
    file.input("x", [0, 3])
    file.ramp("w", [3, 2])
    file.node("MatMul", ["x", "w"], ["y"])
    file.output("y", [0, 2])
    let program = try program(file)
    #expect(try shapes(program.graph()) == [[1, 2]])
    for size in [0, 1, 5] { #expect(try shapes(program.graph(["x": [size, 3]])) == [[size, 2]]) }
  }

  /// Converters of image networks write the sizes of an image so.
  @Test func declaredZeroInLaterAxesMustBeGiven() throws {
    let program = try program(.single("Relu", input: [0, 3, 0, 0]))
    #expect(throws: (any Error).self) { try program.graph() }
    #expect(try shapes(program.graph(["x": [1, 3, 8, 6]])) == [[1, 3, 8, 6]])
    #expect(try shapes(program.graph(["x": [1, 3, 0, 6]])) == [[1, 3, 0, 6]])
  }

  @Test func declaredOutputsRuleOutEmptyInputs() throws {
    // No elements divide into eight rows as well; the output says that there are some.
    var file = ONNXFile()
    file.input("x", [0, 4])
    file.integers("shape", [8, -1])
    file.node("Reshape", ["x", "shape"], ["y"])
    file.output("y", [8, 2])
    let function = try program(file).main
    #expect(try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator()).map { $0.graph == nil } == [true])
    #expect(try shapes(program(file).graph(["x": [4, 4]])) == [[8, 2]])
  }

  @Test func modelWhoseConstantsRejectSizeOneIsRead() throws {
    for size in [0, -1] {
      let file = splits([size], [2, 3], outputs: [])
      let built = try program(file).main.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator())
      #expect(built.map { $0.graph == nil } == [true])
      #expect(try shapes(program(file).graph(["x": [5]])) == [[2], [3]])
      let error = #expect(throws: FormatError.self) { try program(file).graph(["x": [4]]) }
      #expect(error?.description.contains("Split") == true)
    }
  }

  @Test func modelWithoutAFittingSizeIsRefused() throws {
    var file = ONNXFile()
    file.input("x", [0])
    file.node("Relu", ["nothing"], ["y"])
    file.output("y")
    let error = #expect(throws: FormatError.self) { try program(file).graph() }
    #expect(error?.description.contains("nothing") == true)
  }
}
