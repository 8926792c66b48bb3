import KelvinEngine
import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinReference
import TestSupport
import Testing

@Suite struct ONNXTests {
  private func graph(_ file: ONNXFile) throws -> Graph { try readONNX(Bytes(file.bytes), path: "m.onnx").graph() }

  private func error(_ file: ONNXFile) -> FormatError? {
    do {
      _ = try graph(file)
      return nil
    } catch { return error as? FormatError }
  }

  /// The only output for an input, computed by the reference device.
  private func result(_ file: ONNXFile, _ x: [Float], _ shape: Shape) throws -> Tensor {
    try #require(try run(graph(file), [Tensor(x, shape)]).first)
  }

  @Test func argMaxTakesTheFirstOrLastEqualElement() throws {
    let x: [Float] = [1, 7, 7, 3, 3, 2]
    let first = try result(.single("ArgMax", input: [2, 3], ["axis": .integer(-1)]), x, [2, 3])
    #expect(first.type == TensorType(.int64, [2, 1]))
    #expect(first.integers == [1, 0])
    let last = ONNXFile.single(
      "ArgMax", input: [2, 3],
      ["axis": .integer(1), "keepdims": .integer(0), "select_last_index": .integer(1)])
    #expect(try result(last, x, [2, 3]).type.shape == [2])
    #expect(try result(last, x, [2, 3]).integers == [2, 1])
    #expect(try result(.single("ArgMin", input: [2, 3]), x, [2, 3]).integers == [0, 1, 1])
  }

  @Test func backwardSliceClampsItsStart() throws {
    let file = ONNXFile.single(
      "Slice", input: [3], constants: ["starts": [-100], "ends": [-200], "axes": [0], "steps": [-1]])
    #expect(try result(file, [4, 5, 6], [3]).floats == [4])
  }

  @Test func integerPowerUsesTheFractionalExponent() throws {
    var file = ONNXFile()
    file.input("x", [2], type: ONNXFile.int64)
    file.weights("e", [0.5], [1])
    file.node("Pow", ["x", "e"], ["y"])
    file.output("y")
    #expect(try run(graph(file), [Tensor([9, 16] as [Int64], [2])])[0].integers == [3, 4])
  }

  @Test func stftAcceptsARealSignalWithoutComponentAxis() throws {
    var file = ONNXFile()
    file.input("x", [1, 4])
    file.integers("samples", [4])
    file.node("STFT", ["x", "samples", "", "samples"], ["y"])
    file.output("y")
    let parts = try result(file, [1, 2, 3, 4], [1, 4])
    #expect(parts.type.shape == [1, 1, 3, 2])
    for (part, expected) in zip(parts.floats, [10, 0, -2, 2, -2, 0] as [Float]) { #expect(abs(part - expected) < 1e-5) }
  }

  @Test func nodesAreSortedTopologically() throws {
    var file = ONNXFile()
    file.input("x", [1])
    file.input("positive", [], type: 9)
    file.node("Neg", ["b"], ["c"])
    let side = { (name: String) in
      Wire.message { graph in
        graph.message(1) { node in
          node.text(1, "c")
          node.text(2, name)
          node.text(4, "Exp")
        }
        graph.message(12) { $0.text(1, name) }
      }
    }
    file.node("If", ["positive"], ["y"], ["then_branch": .graph(side("t")), "else_branch": .graph(side("e"))])
    file.node("Abs", ["a"], ["b"])
    file.node("Log", ["x"], ["a"])
    file.output("y")
    let nodes = try graph(file).nodes
    #expect(nodes.map(\.name) == ["a", "b", "c", "y"])
  }

  @Test func namesMustBeComputedOnceBeforeTheyAreRead() throws {
    var file = ONNXFile()
    file.input("x", [1])
    file.node("Add", ["x", "b"], ["a"])
    file.node("Relu", ["a"], ["b"])
    file.output("b")
    #expect(error(file)?.description.contains("reads 'b'") == true)
    file = ONNXFile()
    file.input("x", [1])
    file.node("Relu", ["x"], ["x"])
    file.output("x")
    #expect(error(file)?.description.contains("already defined") == true)
    file = ONNXFile()
    file.input("x", [1])
    file.weights("w", [1], [1])
    file.node("Relu", ["x"], ["w"])
    file.output("w")
    #expect(error(file)?.description.contains("already defined") == true)
    file.weights("w", [1], [1])
    #expect(error(file)?.description.contains("used twice") == true)
    file = ONNXFile()
    file.input("x", [1])
    file.output("nowhere")
    #expect(error(file)?.description.contains("nowhere") == true)
  }

  @Test func allMissingOperatorsAreListed() {
    var file = ONNXFile()
    file.input("x", [1])
    // A branch that may not be taken is not looked into, a loop's body is.
    let lacking = Wire.message { $0.message(1) { $0.text(4, "Unheard") } }
    let body = Wire.message { $0.message(1) { $0.text(4, "Unseen") } }
    file.node("If", ["x"], ["i"], ["then_branch": .graph(lacking)])
    file.node("Loop", ["x"], ["l"], ["body": .graph(body)])
    for index in 0..<4 { file.node("Unknown", ["x"], ["n\(index)"]) }
    file.output("i")
    let error = error(file)
    #expect(error?.code == .missing)
    #expect(Set(error?.missing.map(\.name) ?? []) == ["Unknown", "Unseen"])
    #expect(error?.missing.first { $0.name == "Unknown" }?.count == 4)
  }

  /// The side that is not taken may contain errors also if the host executes the branch.
  @Test func branchWithAMissingOperatorFailsWhenTaken() throws {
    var file = ONNXFile()
    file.input("x", [3])
    file.input("positive", [], type: 9)
    func node(_ graph: inout Wire, _ kind: String, _ input: String, _ output: String) {
      graph.message(1) { node in
        node.text(1, input)
        node.text(2, output)
        node.text(4, kind)
      }
    }
    let lacking = Wire.message { graph in
      node(&graph, "Unheard", "x", "strange")
      node(&graph, "NonZero", "strange", "places")
      graph.message(12) { $0.text(1, "places") }
    }
    let whole = Wire.message { graph in
      node(&graph, "NonZero", "x", "others")
      graph.message(12) { $0.text(1, "others") }
    }
    file.node("If", ["positive"], ["y"], ["then_branch": .graph(lacking), "else_branch": .graph(whole)])
    file.output("y")
    let program = try readONNX(Bytes(file.bytes), path: "m.onnx")
    let function = try #require(program.functions[program.defaultFunction])
    #expect(function.graphParts.count == 2)
    #expect(throws: Never.self) { try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator()) }
  }

  /// `x` in rows of 4, which is of open length and 1 unless something else is said, and behind that another operator.
  private func rows(then kind: String, _ inputs: [String]) throws -> Function {
    var file = ONNXFile()
    file.rawInput(
      Wire.message {
        $0.text(1, "x")
        $0.message(2) {
          $0.message(1) {
            $0.integer(1, ONNXFile.float)
            $0.message(2) { $0.message(1) { $0.text(2, "n") } }
          }
        }
      })
    file.integers("rows", [-1, 4])
    file.weights("w", [1, 2, 3], [3, 1])
    file.node("Reshape", ["x", "rows"], ["table"])
    file.node(kind, inputs, ["y"])
    file.output("y")
    let program = try readONNX(Bytes(file.bytes), path: "m.onnx")
    return try #require(program.functions[program.defaultFunction])
  }

  @Test func modelIsReadForSizesLargerThanTheDefault() throws {
    let function = try rows(then: "Relu", ["table"])
    #expect(try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator())[0].graph == nil)
    #expect(try function.graph(shapes: ["x": [8]], evaluator: ReferenceEvaluator()).outputs.count == 1)
    #expect { try function.builtGraphs(shapes: ["x": [6]], evaluator: ReferenceEvaluator()) } throws: {
      "\($0)".contains("Reshape 'table'")
    }
  }

  @Test func processorSpecificLayoutIsRefusedWithARemedy() throws {
    var file = ONNXFile()
    file.input("x", [1, 16, 2, 2])
    file.node("ReorderOutput", ["x"], ["y"], domain: "com.microsoft.nchwc")
    file.output("y")
    #expect(error(file)?.remedy?.contains("at the level 'extended'") == true)
  }

  /// 60 numbers from 0 on, resized to the nearest by the convention that PyTorch's exporter writes.
  private func resized(by scale: Float) throws -> [Double] {
    var file = ONNXFile()
    file.input("x", [60])
    file.weights("scale", [scale], [1])
    file.node(
      "Resize", ["x", "", "scale"], ["y"],
      ["mode": .text("nearest"), "coordinate_transformation_mode": .text("asymmetric"), "nearest_mode": .text("floor")])
    file.output("y")
    return try result(file, (0..<60).map(Float.init), [60]).doubles
  }

  @Test func roundedScaleResizesToTheIntendedSize() throws {
    #expect(try resized(by: 0.6) == (0..<36).map { Double($0 * 5 / 3) })
    #expect(try resized(by: 0.2) == (0..<12).map { Double($0 * 5) })
    #expect(try resized(by: 0.35) == (0..<21).map { Double($0 * 20 / 7) })
    #expect(try resized(by: 1.2) == (0..<72).map { Double($0 * 5 / 6) })
    #expect(try resized(by: 1 / 3) == (0..<20).map { Double($0 * 3) })
  }

  @Test func unknownOperatorSetsAreRefused() {
    for opset in [-1, 0, 29, Int.max] {
      var file = ONNXFile.single("Relu", input: [1])
      file.opset = opset
      #expect(error(file)?.code == .unsupported)
    }
  }

  @Test func operatorSetMustBeImported() {
    var file = ONNXFile.single("Relu", input: [1])
    file.opset = nil
    #expect(error(file)?.code == .malformed)
    // Files of the first versions of the format have none.
    file.irVersion = 2
    #expect(error(file) == nil)
  }

  @Test func elementsMustFillTheirShape() {
    for shape in [[3], [-1, -2], [1 << 62, 4], [Int.min], [2, 0], [Int](repeating: 1, count: 40)] {
      for tensor in [ONNXFile.tensor("w", [1, 2] as [Float], shape), ONNXFile.tensor("w", [1, 2] as [Int], shape)] {
        var file = ONNXFile()
        file.input("x", [1])
        file.initializer(tensor)
        file.node("Cast", ["w"], ["c"], ["to": .integer(1)])
        file.node("Add", ["c", "x"], ["y"])
        file.output("y")
        #expect(error(file)?.code == .malformed, "\(shape)")
      }
    }
  }

  @Test func weightsBesideTheModelAreRead() throws {
    let folder = TemporaryFolder()
    folder.write(littleEndian([0, 0, 5, 6]), "data/w.bin")
    #expect(try external(folder, [("location", "data/w.bin"), ("offset", "8"), ("length", "8")]) == nil)
    let program = try readModel(at: "\(folder.path)/m.onnx")
    #expect(try run(program.graph(), [Tensor([1] as [Float], [1])])[0].floats == [6, 7])
    #expect(program.source.files == ["\(folder.path)/m.onnx", "\(folder.path)/data/w.bin"])
  }

  @Test(arguments: [
    "../w.bin", "/etc/hostname", "data/../../w.bin", "..", "", ".", "data", "absent.bin", "data/./../../w.bin",
    "w\0.bin",
  ])
  func weightsOutsideTheFolderAreRefused(location: String) throws {
    let folder = TemporaryFolder()
    folder.write(littleEndian([5, 6]), "w.bin")
    folder.write(littleEndian([5, 6]), "model/data/w.bin")
    let error = try external(folder, [("location", location), ("length", "8")], model: "model/m.onnx")
    #expect(error?.code == .malformed || error?.code == .unreadable, "\(String(describing: error))")
  }

  @Test(arguments: [
    [("offset", "1")], [("offset", "-8")], [("offset", "9223372036854775807")], [("length", "7")], [("length", "-1")],
    [("offset", "18446744073709551616")], [("offset", "eight")], [("length", "16")],
    [("offset", "9223372036854775800"), ("length", "8")],
  ])
  func weightsOutsideTheirFileAreRefused(entries: [(String, String)]) throws {
    let folder = TemporaryFolder()
    folder.write(littleEndian([5, 6]), "w.bin")
    #expect(try external(folder, [("location", "w.bin")] + entries)?.code == .malformed)
  }

  /// Returns the result of reading a model that adds two floats, which are in another file, to its input.
  private func external(
    _ folder: TemporaryFolder, _ entries: [(String, String)], model: String = "m.onnx"
  ) throws -> FormatError? {
    var file = ONNXFile()
    file.input("x", [1])
    file.initializer(ONNXFile.external("w", [2], entries))
    file.node("Add", ["x", "w"], ["y"])
    file.output("y")
    let path = folder.write(file.bytes, model)
    do {
      _ = try readModel(at: path).graph()
      return nil
    } catch let error as FormatError { return error }
  }
}
