import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Graphs that compute each item of a batch by itself.
struct GraphItemsTests {
  @Test func subsetOfItemsGivesTheSameResults() throws {
    for seed in UInt64(1)...40 {
      let (whole, inputs) = try RandomGraph.make(seed: seed, items: 6)
      #expect(whole.itemCount == 6, "seed \(seed)")
      let part = try #require(whole.computing(items: 2), "seed \(seed)")
      try part.verify()
      let expected = try ReferenceDevice().run(whole, inputs).outputs
      let parts = try (0..<3).map { chunk in
        try ReferenceDevice().run(part, inputs.map { $0.part(Part.Operand(axis: 0, range: 2 * chunk..<2 * chunk + 2)) })
          .outputs
      }
      for index in expected.indices {
        #expect(Tensor.joined(parts.map { $0[index] }) == expected[index], "seed \(seed)")
      }
    }
  }

  @Test func leadingBatchAxisKeepsItemsSeparate() throws {
    let graph = try graph([4, 3, 2, 2]) { builder, x in
      let flat = try builder.add(Reshape([4, 12]), x, name: "flat", origin: Self.origin)
      let weights = builder.constant("w", Tensor([Float](repeating: 1, count: 60), [5, 12]))
      let product = try builder.add(Linear(), flat, weights, name: "product", origin: Self.origin)
      return try builder.add(Softmax(axis: 1), product, name: "softmax", origin: Self.origin)
    }
    #expect(graph.computing(items: 2)?.types(graph.outputs) == [TensorType(.float32, [2, 5])])
    #expect(graph.computing(items: 3) == nil)
  }

  @Test func combinedItemsAreNotSeparate() throws {
    func meeting(_ what: String, _ make: (inout GraphBuilder, ValueID) throws -> ValueID) throws {
      let graph = try graph([4, 4], make)
      #expect(graph.itemCount == nil, "\(what)")
      #expect(graph.computing(items: 2) == nil, "\(what)")
    }
    func operation(_ op: any Operator, _ what: String) throws {
      try meeting(what) { try $0.add(op, [$1], name: "y", origin: Self.origin)[0] }
    }
    try operation(Softmax(axis: 0), "one of all items")
    try operation(CumulativeReduce(.sum, axis: 0), "sums along the items")
    try operation(Transpose([1, 0]), "another axis in front")
    try operation(Reshape([2, 8]), "two items in one")
    try meeting("every item with every other") {
      try $0.add(MatMul(transposesY: true), $1, $1, name: "y", origin: Self.origin)
    }
    try meeting("items as features of each") {
      let sum = try $0.add(Reduce(.sum, axes: [1], keepsDimensions: false), $1, name: "sum", origin: Self.origin)
      return try $0.add(Binary(.add), $1, sum, name: "y", origin: Self.origin)
    }
    try meeting("a weight for each item") {
      let weights = $0.constant("w", Tensor([1, 2, 3, 4] as [Float], [4, 1]))
      return try $0.add(Binary(.add), $1, weights, name: "y", origin: Self.origin)
    }
  }

  private static let origin = Origin(name: "layer", kind: "Test", index: 0)

  private func graph(_ shape: Shape, _ make: (inout GraphBuilder, ValueID) throws -> ValueID) throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let x = try builder.input("x", TensorType(.float32, shape))
    builder.output(try make(&builder, x))
    return try builder.finish()
  }
}
