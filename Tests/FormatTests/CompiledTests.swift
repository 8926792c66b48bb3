import KelvinEngine
import KelvinGraph
import KelvinHostOperations
import KelvinImport
import KelvinReference
import TestSupport
import Testing

/// Folders that models are compiled into: ML Programs as text.
@Suite struct CompiledTests {
  private func read(_ folder: CompiledFolder) throws -> ModelProgram {
    let place = TemporaryFolder()
    return try withExtendedLifetime(place) { try readModel(at: folder.write(place)) }
  }

  @Test func compiledProgramComputesItsFunction() throws {
    let place = TemporaryFolder()
    let program = try readModel(at: CompiledFolder().write(place))
    #expect(program.source.format == .mlProgram)
    #expect(program.source.files.map { $0.split(separator: "/").last } == ["model.mil", "weight.bin"])
    #expect(try program.main.inputs.map(\.type) == [.tensor(.float32, [.fixed(1), .fixed(2), .fixed(2), .fixed(2)])])
    let graph = try program.graph()
    let input = Tensor([1, 2, 3, 4, 5, 6, 7, 8] as [Float], [1, 2, 2, 2])
    #expect(try run(graph, [input]).map(\.doubles) == [[1.5, 2.5, 3.5, 4.5, 2, 3, 4, 5, 0, 0, 0, 0]])
    #expect(graph.nodes.flatMap(\.origins).contains { $0.name == #"the "product""# })
  }

  /// The second dialect: plain scalars, states, operations without outputs, blocks.
  @Test func statesAndBlocksAreRead() throws {
    let program = try readModel(at: "\(Shared.packageRoot)/Tests/Vectors/Compiled/accumulate.mlmodelc")
    let graph = try program.graph()
    #expect(graph.states.count == 1)
    #expect(try program.main.inputs.map(\.type) == [.tensor(.float32, [.fixed(2)]), .state(.float32, [.fixed(2)])])
    #expect(graph.nodes.contains { $0.op.name == "loop" })
    guard case .program(let functions) = program.structure else { throw FixtureError("it is no program") }
    let operations = try #require(functions["main"]).operations
    let kinds = ["read_state", "while_loop", "cond", "write_state"]
    #expect(operations.map(\.kind).suffix(4) == kinds.map { "ios18.\($0)" })
    #expect(operations.flatMap(\.blocks).map(\.outputs) == [["goes"], ["next", "more"], ["x"], ["twice"]])
  }

  @Test func classifyOperationGivesLabels() throws {
    var folder = CompiledFolder()
    folder.text = """
      program(1.0) {
        func main<ios15>(tensor<fp32, [1, 2]> scores) {
          list<tensor<string, []>, 2> classes = const()[name = tensor<string, []>("classes"), val = list<tensor<string, []>, 2>(("otter", "ice \\"bear\\""))];
          tensor<fp32, [1, 2]> shares = softmax(axis = tensor<int32, []>(-1), x = scores)[name = tensor<string, []>("shares")];
          tensor<string, []> label, dict<tensor<string, []>, tensor<fp32, []>> label_probs = classify(classes = classes, probabilities = shares)[name = tensor<string, []>("c")];
        } -> (label, label_probs);
      }
      """
    folder.metadata = """
      [{"specificationVersion": 6, "author": "A", "userDefinedMetadata": {"key": "value"},
        "inputSchema": [{"name": "scores", "type": "MultiArray", "dataType": "Float32", "shape": "[1, 2]"}],
        "outputSchema": [{"name": "label", "type": "String"}, {"name": "label_probs", "type": "Dictionary", "keyType": "String"}]}]
      """
    let program = try read(folder)
    #expect(program.metadata.author == "A")
    #expect(program.metadata.userDefined == ["key": "value"])
    #expect(program.source.version == 6)
    #expect(try program.main.outputs.map(\.type) == [.string, .dictionary(keys: .string)])
    #expect(try program.main.classification?.labels == .strings(["otter", #"ice "bear""#]))
  }

  @Test func featuresMatchTheMetadata() throws {
    var folder = CompiledFolder()
    folder.text = """
      program(1.0) {
        func main<ios16>(tensor<fp32, [1, 3, ?, ?]> image, tensor<fp32, [1, ?]> row) {
          tensor<fp32, [1, 3, ?, ?]> y = relu(x = image)[name = tensor<string, []>("y")];
          tensor<fp32, [1, ?]> z = relu(x = row)[name = tensor<string, []>("z")];
        } -> (y, z);
      }
      """
    folder.metadata = """
      [{"inputSchema": [
          {"name": "image", "type": "Image", "width": "8", "height": "6", "colorspace": "BGR", "isColor": "1",
           "hasSizeFlexibility": "1", "sizeRange": "[[4, 16], [2, -1]]", "isOptional": "1", "shortDescription": "seen"},
          {"name": "row", "type": "MultiArray", "dataType": "Float32", "shape": "[1, 4]", "hasShapeFlexibility": "1",
           "enumeratedShapes": "[[1, 4], [1, 9]]"}],
        "outputSchema": [{"name": "y", "type": "MultiArray", "dataType": "Float32", "shape": "[]"},
          {"name": "z", "type": "MultiArray", "dataType": "Float32", "shape": "[]"}]}]
      """
    let inputs = try read(folder).main.inputs
    #expect(inputs[0].isOptional)
    #expect(inputs[0].summary == "seen")
    guard case .image(let image) = inputs[0].type else { throw FixtureError("\(inputs[0].type)") }
    #expect(image.layout == .bgr)
    #expect(image.sizes == .ranged(widths: 4...16, heights: 2...(1 << 20) - 1))
    #expect(inputs[1].allowedShapes == [[1, 4], [1, 9]])
  }

  @Test func subByteElementsArePacked() throws {
    var folder = CompiledFolder()
    folder.text = """
      program(1.3) {
        func main<ios18>(tensor<fp32, [2, 3]> x) {
          tensor<fp32, [2, 3]> w = constexpr_blockwise_shift_scale(data = tensor<int4, [2, 3]>([[-8, 7, 0], [1, -1, 3]]), scale = tensor<fp32, [2, 1]>([[0x1p+1], [1]]))[name = string("w")];
          tensor<fp32, [2, 3]> y = add(x = x, y = w)[name = string("y")];
        } -> (y);
      }
      """
    let graph = try read(folder).graph()
    #expect(
      try run(graph, [Tensor([Float](repeating: 0, count: 6), [2, 3])]).map(\.doubles) == [[-16, 14, 0, 1, -1, 3]])
  }

  @Test(arguments: [
    ("model.espresso.net", "a neural network"), ("model0/coremldata.bin", "a pipeline"),
    ("coremldata.bin", "a model of an older kind"),
  ])
  func appleOnlyFormatsAreRefusedWithARemedy(name: String, kind: String) throws {
    let place = TemporaryFolder()
    place.write("", "m.mlmodelc/\(name)")
    let error = try #require(throws: FormatError.self) { try readModel(at: "\(place.path)/m.mlmodelc") }
    #expect(error.code == .unsupported)
    #expect(error.description.contains("compiled from \(kind)"), "\(error)")
    #expect(error.remedy == "use the .mlmodel or .mlpackage that it was compiled from")
  }

  @Test(arguments: [
    ("y = conv(bias", "y = conv bias", "line 11: expected '('"),
    ("tensor<int32, [2]>([1, 1])", "tensor<int32, [2]>([1, one])", "line 6: 'one' is not a valid number"),
    ("tensor<fp32, [3]> b", "tensor<float, [3]> b", "line 10: the element type 'float' is not known"),
    ("tensor<fp32, [3]>([", "tensor<fp32, [4]>([", "has 4 elements, but the file has a different number"),
    ("-> (z);\n}", "-> (z);", "line 13: the text ends"),
    (#"offset = tensor<uint64, []>(64)"#, #"offset = tensor<uint64, []>("64")"#, "line 9: 'offset' is not"),
    ("offset = tensor<uint64, []>(64)", "offset = tensor<uint64, []>(1024)", "outside the file"),
    ("@model_path/weights/weight.bin", "@model_path/../weight.bin", "outside the model's folder"),
    ("z = relu(", "z = unheard_of(", "ios16.unheard_of"),
    ("} -> (z)", "} -> (nobody)", "nobody"),
  ])
  func syntaxErrorsNameTheirLine(before: String, after: String, words: String) throws {
    var folder = CompiledFolder()
    let text = CompiledFolder.convolution
    #expect(text.contains(before))
    folder.text = text.replacing(before, with: after)
    let error = try #require(try folder.error(), "nothing was refused")
    #expect(error.description.contains(words), "\(error)")
  }

  @Test(arguments: ["", "{}", "[]", "[{}, {}]", #"[{"inputSchema": [{"name": 1}]}]"#])
  func aDamagedDescriptionIsRefused(metadata: String) throws {
    var folder = CompiledFolder()
    folder.metadata = metadata
    #expect(try #require(try folder.error()).description.contains("metadata.json"))
  }

  @Test(arguments: ["", "[1], [2]"]) func oneShapeIsExpected(shape: String) throws {
    var folder = CompiledFolder()
    folder.metadata = """
      [{"inputSchema": [{"name": "x", "type": "MultiArray", "dataType": "Float32", "shape": "\(shape)"}],
        "outputSchema": [{"name": "z", "type": "MultiArray", "dataType": "Float32", "shape": "[]"}]}]
      """
    let error = try #require(try folder.error(), "nothing was refused").description
    #expect(error.contains("metadata.json") && error.contains("expected one shape, found '\(shape)'"), "\(error)")
  }

  @Test func truncatedProgramIsRefused() throws {
    let text = Array(CompiledFolder.convolution.utf8)
    for count in 0..<text.count - 1 {
      var folder = CompiledFolder()
      folder.text = String(decoding: text[..<count], as: UTF8.self)
      // The name of a type may be cut as well.
      let code = try folder.error()?.code
      #expect(code == .malformed || code == .unsupported, "of \(count) bytes")
    }
  }

  @Test(arguments: ["(", "[", "{", "x", "tensor<", "list<", "state<", "[val = tensor<fp32, []>(", "f() {"])
  func deepNestingIsRefused(opening: String) throws {
    let nest = String(repeating: opening, count: 100_000)
    for text in [
      "program(1.0) { func main<ios16>(\(nest)", "program(1.0) { func main<ios16>() { \(nest)",
      "program(1.0) { func main<ios16>() { int32 a = const()[val = \(nest)",
      "program(1.0) { func main<ios16>() { int32 a = const()[val = list<int32, 1>(\(nest)",
    ] {
      var folder = CompiledFolder()
      folder.text = text
      // An unknown type is reported.
      let code = try folder.error()?.code
      #expect(code == .malformed || code == .unsupported)
    }
  }
}
