import KelvinFormats
import KelvinGraph
import Testing

@Suite(.enabled(if: Shared.isPresent, Comment(rawValue: Shared.reason)))
struct SharedModelTests {
  @Test func mobileNetFromONNXKeepsItsOperationsAndShapes() throws {
    let program = try readModel(at: Shared.model("MobileNetV2_f32.onnx"))
    let graph = try program.graph()
    #expect(graph.nodes.count == 53 + 35 + 10 + 1 + 1 + 1)
    #expect(graph.types(graph.inputs) == [TensorType(.float32, [1, 3, 224, 224])])
    #expect(graph.types(graph.outputs) == [TensorType](repeating: TensorType(.float32, [1, 1000]), count: 2))
  }

  @Test func mobileNetFromPackageReads() throws {
    let program = try readModel(at: Shared.model("MobileNetV2_f16.mlpackage"))
    let graph = try program.graph()
    print(graph.description.prefix(3000))
    print(program.source, program.metadata, try program.main.inputs, try program.main.outputs)
    #expect(graph.nodes.count == 103)
  }

  @Test func mobileNetLogitsMatch() throws {
    let graph = try readModel(at: Shared.model("MobileNetV2_f32.onnx")).graph()
    let results = try run(graph, [Shared.array("mobilenetv2_owl_input.npy")])
    let expected = try Shared.array("mobilenetv2_owl_logits.npy").floats
    #expect(zip(results[0].floats, expected).allSatisfy { abs($0 - $1) < 1e-3 })
  }
}
