import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import Testing

@Suite struct MergeClipsTests {
  /// `x` through functions in a row, each node of an origin of its own.
  private func chain(_ functions: [UnaryFunction]) throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    var value = try builder.input("x", TensorType(.float32, [9]))
    for (index, function) in functions.enumerated() {
      value = try builder.add(
        Unary(function), value, name: "f\(index)", origin: Origin(name: "f\(index)", kind: "f", index: index))
    }
    builder.output(value)
    return try builder.finish()
  }

  private static let points = Tensor([-9, -6.5, -6, -1, 0, 1, 6, 6.5, 9].map { Float($0) }, [9])

  @Test(
    arguments: [
      [.relu, UnaryFunction(.affine, a: -1), .clip(-6, .infinity), UnaryFunction(.affine, a: -1)],
      [.clip(-7, 2), .clip(3, 8)], [UnaryFunction(.negate), .relu, UnaryFunction(.negate), .clip(-5, -2)],
      [UnaryFunction(.negate), .clip(1, 4)], [.relu, UnaryFunction(.affine, a: 1, b: 2), .relu],
    ] as [[UnaryFunction]])
  func mergedChainGivesTheSameResult(functions: [UnaryFunction]) throws {
    let graph = try chain(functions)
    let merged = try MergeClips().run(graph).graph
    try merged.verify()
    let expected = try ReferenceDevice().run(graph, [Self.points]).outputs[0].doubles
    #expect(try ReferenceDevice().run(merged, [Self.points]).outputs[0].doubles == expected)
  }

  /// The value that the first merged chain now reads is also read by the second.
  @Test func valueSharedByTwoChainsIsKept() throws {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    func add(_ function: UnaryFunction, _ value: ValueID) throws -> ValueID {
      try builder.add(Unary(function), value, name: "f", origin: Origin(name: "f", kind: "f", index: 0))
    }
    let begun = try add(.relu, try builder.input("x", TensorType(.float32, [9])))
    builder.output(try add(.clip(0, 6), begun))
    builder.output(try add(.clip(2, 3), try add(.clip(1, 4), begun)))
    let graph = try builder.finish()
    let merged = try MergeClips().run(graph).graph
    try merged.verify()
    #expect(merged.nodes.count == 3)
    let wanted = try ReferenceDevice().run(graph, [Self.points]).outputs.map(\.doubles)
    #expect(try ReferenceDevice().run(merged, [Self.points]).outputs.map(\.doubles) == wanted)
  }

  @Test func decomposedRelu6BecomesOneClip() throws {
    let negate = UnaryFunction(.affine, a: -1)
    let merged = try MergeClips().run(try chain([.relu, negate, .clip(-6, .infinity), negate])).graph
    #expect(merged.nodes.count == 1)
    #expect((merged.nodes.first?.op as? Unary)?.function == .clip(0, 6))
    #expect(merged.nodes.first?.origins.map(\.name) == ["f0", "f1", "f2", "f3"])
  }
}
