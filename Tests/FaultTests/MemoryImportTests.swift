import ConformanceChecks
import CFaultyDrivers
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Drivers that do not take the memory of the host in which large weights are.
@Suite(.serialized) struct MemoryImportTests {
  /// That it is no such handle, and that something is wrong: of the other calls the latter would be a lost device.
  @Test(.slow, arguments: [Int32(-1_000_072_003), -13]) func memoryRefusedByVulkanIsCopied(code: Int32) async {
    await #expect(processExitsWith: .success) { [code] in
      let (graph, input, expected) = try product()
      let device = try #require(FaultyMachine(.vulkan).device)
      let function = "vkGetMemoryHostPointerPropertiesEXT"
      faulty_order(FaultyFault.answering(function, forGood: true, code: code))
      let weights = MemoryPackedWeights()
      let executable = try device.compile(segment(graph, weights))
      #expect(faulty_calls(function) > 0 && weights.footprint.byteCount == 0)
      let result = try device.run(graph, [input], weights: weights).outputs[0]
      #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
      #expect(device.health.mayFree)
      withExtendedLifetime(executable) {}
      leave()
    }
  }

  /// PoCL's first buffer is the one that programs are rehearsed on, the second the weight.
  @Test(.slow) func memoryRefusedByOpenCLIsCopied() async {
    await #expect(processExitsWith: .success) {
      let (graph, input, expected) = try product()
      guard let device = FaultyMachine(.opencl).device else { leave() }
      // CL_INVALID_HOST_PTR
      faulty_order(FaultyFault.answering("clCreateBuffer", call: 2, code: -37))
      let weights = MemoryPackedWeights()
      let executable = try device.compile(segment(graph, weights))
      #expect((weights.footprint.byteCount == 0) == (faulty_failures() > 0))
      let result = try device.run(graph, [input], weights: weights).outputs[0]
      #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
      #expect(device.health.mayFree)
      withExtendedLifetime(executable) {}
      leave()
    }
  }

  @Test func lossDuringImportDisablesTheDevice() async {
    await #expect(processExitsWith: .success) {
      let (graph, _, _) = try product()
      let device = try #require(FaultyMachine(.vulkan).device)
      faulty_order(FaultyFault.answering("vkGetMemoryHostPointerPropertiesEXT", code: -4))
      #expect { try device.compile(segment(graph, MemoryPackedWeights())) } throws: {
        ($0 as? DeviceError)?.code == .lost
      }
      #expect(!device.health.mayFree)
      leave()
    }
  }
}

private func segment(_ graph: Graph, _ weights: any PackedWeights) -> Segment {
  Segment(graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: weights, blobs: NoBlobCache())
}

/// A product by a weight of a mebibyte, with the reference's answer.
private func product() throws -> (Graph, Tensor, Tensor) {
  var random = SeededGenerator(seed: 7)
  var graph = Graph()
  let input = Tensor.random(.float32, [2, 512], -1...1, &random)
  let matrix = Tensor.random(.float32, [512, 512], -1...1, &random)
  let x = graph.addValue(Value(name: "x", type: input.type))
  let w = graph.addValue(Value(name: "w", type: matrix.type, weight: Weight(matrix)))
  let op = Linear()
  let y = graph.addValue(Value(name: "y", type: try op.infer(graph.types([x, w]))[0]))
  let origin = Origin(name: "product", kind: op.name, index: 0)
  graph.nodes = [Node(name: "product", op: op, inputs: [x, w], outputs: [y], origins: [origin])]
  (graph.inputs, graph.outputs) = ([x], [y])
  return (graph, input, try ReferenceDevice().run(graph, [input]).outputs[0])
}
