import GraphParsing
import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import Testing

/// Outputs with room for the largest number of elements, and an output with their actual number.
@Suite struct OutputExtentTests {
  /// The positions of the positive elements of x, after an identity that passes remove.
  private func sample() throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "layer", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [2, 3]))
    let same = try builder.add(Reshape([2, 3]), x, name: "same", origin: origin)
    let positive = try builder.add(Unary(.relu), same, name: "positive", origin: origin)
    let results = try builder.add(
      NonZero(), [positive], name: "places", outputNames: ["places", "found"], origin: origin)
    results.forEach { builder.output($0) }
    builder.extent(of: 0, axis: 1, countedBy: 1)
    return try builder.finish()
  }

  private func failure(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return ""
  }

  @Test func extentsAreWrittenAndReadBack() throws {
    let graph = try sample()
    #expect(graph.description.hasSuffix("extent 0 axis 1 counted by 1\noutput %places, %found"))
    let read = try Graph(parsing: graph.description, weights: graph.weights)
    #expect(read.extents == [OutputExtent(output: 0, axis: 1, count: 1)])
    #expect(read.canonical == graph.canonical)
    var without = graph
    without.extents = []
    #expect(without.canonical != graph.canonical)
  }

  @Test func passesKeepExtents() throws {
    let passed = try Pipeline.standard(ReferenceEvaluator()).run(sample())
    #expect(passed.changes.contains { $0.isRemoval })
    #expect(passed.graph.extents == [OutputExtent(output: 0, axis: 1, count: 1)])
  }

  @Test func outputsHaveTheCountedLength() throws {
    let graph = try sample()
    for (values, expected): ([Float], [[Int]]) in [
      ([0, 2, -1, 3, 0, 4], [[0, 1, 1], [1, 0, 2]]), ([-1, -1, -1, -1, 0, 0], [[], []]),
      ([1, 1, 1, 1, 1, 1], [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]),
    ] {
      let padded = try ReferenceDevice().run(graph, [Tensor(values, [2, 3])]).outputs
      #expect(padded[0].shape == [2, 6])
      let exact = try padded.indices.map { try graph.exactOutput($0) { $1.map(padded[$0].part) ?? padded[$0] } }
      #expect(exact[0].shape == [2, expected[0].count])
      #expect(exact[0].integers == expected.flatMap { $0 })
    }
  }

  @Test func onlyTheCountedElementsOfAnOutputAreRead() throws {
    let graph = try sample()
    let padded = try ReferenceDevice().run(graph, [Tensor([0, 2, -1, 3, 0, 4] as [Float], [2, 3])]).outputs
    var read: [Int: Part.Operand?] = [:]
    _ = try graph.exactOutput(0) {
      read[$0] = $1
      return $1.map(padded[$0].part) ?? padded[$0]
    }
    #expect(read == [0: Part.Operand(axis: 1, range: 0..<3), 1: nil])
  }

  @Test(arguments: [Int64(-1), 7, .max]) func countBeyondTheCapacityIsAnError(count: Int64) throws {
    var graph = try sample()
    graph[graph.outputs[1]].type = TensorType(.int64, [1])
    let padded = [Tensor(TensorType(.int64, [2, 6]), wrapping: Array(repeating: 0, count: 12)), Tensor([count], [1])]
    let message = failure { _ = try graph.exactOutput(0) { $1.map(padded[$0].part) ?? padded[$0] } }
    #expect(message.contains("'places'") && message.contains("\(count)") && message.contains("room for 6"))
  }

  @Test func verifierRefusesInvalidExtents() throws {
    for (extent, reason) in [
      (OutputExtent(output: 2, axis: 0, count: 1), "of 2"), (OutputExtent(output: 0, axis: 2, count: 1), "no axis 2"),
      (OutputExtent(output: 0, axis: 1, count: 0), "expected one integer"),
    ] {
      var graph = try sample()
      graph.extents = [extent]
      #expect(failure { try graph.verify() }.contains(reason))
    }
  }
}
