import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import Testing

/// Exported forms of transformers, and the results of passes for them.
@Suite struct TransformerPassTests {
  private let evaluator = ReferenceEvaluator()
  private let reference = ReferenceDevice()

  private func origin(_ name: String) -> Origin { Origin(name: name, kind: "Test", index: 0) }

  private enum Spelling: CaseIterable {
    /// `(x · (erf + 1)) · 1/2`, `(x · 1/2) · (erf + 1)` and `x · ((erf + 1) · 1/2)`
    case halfLast, halfFirst, halfInside
  }

  private func graph(_ spelling: Spelling, half: Float = 0.5, root: Float = 2) throws -> Graph {
    var builder = GraphBuilder(evaluator: evaluator)
    let x = try builder.input("x", TensorType(.float32, [3, 5]))
    func constant(_ value: Float) -> ValueID { builder.constant("c", Tensor([value], [])) }
    func add(_ op: any Operator, _ inputs: ValueID..., name: String) throws -> ValueID {
      try builder.add(op, inputs, name: name, origin: origin(name))[0]
    }
    let scaled = try add(Binary(.divide), x, constant(root.squareRoot()), name: "scaled")
    let erf = try add(Unary(UnaryFunction(.erf)), scaled, name: "erf")
    let sum = try add(Binary(.add), erf, constant(1), name: "sum")
    switch spelling {
    case .halfLast:
      let product = try add(Binary(.multiply), x, sum, name: "product")
      builder.output(try add(Binary(.multiply), product, constant(half), name: "half"))
    case .halfFirst:
      let halved = try add(Binary(.multiply), x, constant(half), name: "half")
      builder.output(try add(Binary(.multiply), halved, sum, name: "product"))
    case .halfInside:
      let halved = try add(Binary(.multiply), sum, constant(half), name: "half")
      builder.output(try add(Binary(.multiply), x, halved, name: "product"))
    }
    return try builder.finish()
  }

  @Test func decomposedGELUsAreRecognized() throws {
    let input = Tensor((0..<15).map { Float($0) / 3 - 2.4 }, [3, 5])
    for spelling in Spelling.allCases {
      let graph = try graph(spelling)
      let result = try Pipeline.standard(evaluator).run(graph).graph
      #expect(result.nodes.map { ($0.op as? Unary)?.function.kind } == [.gelu], "\(spelling)")
      #expect(Set(result.nodes[0].origins.map(\.name)) == ["scaled", "erf", "sum", "product", "half"])
      let wanted = try reference.run(graph, [input]).outputs[0]
      let got = try reference.run(result, [input]).outputs[0]
      #expect(Tolerance(relative: 1e-5, absolute: 1e-6).difference(of: got, from: wanted) == nil)
    }
  }

  @Test func nearGELUsAreNotReplaced() throws {
    for graph in [try graph(.halfLast, half: 0.25), try graph(.halfFirst, half: 2), try graph(.halfInside, root: 3)] {
      let result = try Pipeline.standard(evaluator).run(graph).graph
      #expect(result.nodes.contains { ($0.op as? Unary)?.function.kind == .erf })
    }
  }

  @Test func productsReadTransposedOperands() throws {
    var random = SeededGenerator(seed: 5)
    // Attention's keys [N, S, H, D] as [N, H, D, S], and a matrix exchanged as a whole on the left.
    for (shape, permutation, left, remaining) in [
      ([2, 7, 3, 5] as Shape, [0, 2, 3, 1], false, [[0, 2, 1, 3]]), ([4, 6], [1, 0], true, []),
    ] {
      var builder = GraphBuilder(evaluator: evaluator)
      let x = try builder.input("x", TensorType(.float32, shape))
      let turned = try builder.add(Transpose(permutation), x, name: "turned", origin: origin("turned"))
      let other: Shape = left ? [4, 3] : [2, 3, 2, 5]
      let y = try builder.input("y", TensorType(.float32, other))
      let operands = left ? [turned, y] : [y, turned]
      builder.output(try builder.add(MatMul(), operands, name: "product", origin: origin("product"))[0])
      let graph = try builder.finish()
      let result = try Pipeline.standard(evaluator).run(graph).graph
      #expect(result.nodes.compactMap { ($0.op as? Transpose)?.permutation } == remaining)
      let product = try #require(result.nodes.compactMap { $0.op as? MatMul }.first)
      #expect(product == MatMul(transposesX: left, transposesY: !left))
      let inputs = [shape, other].map { Tensor.random(.float32, $0, -1...1, &random) }
      let wanted = try reference.run(graph, inputs).outputs[0]
      let got = try reference.run(result, inputs).outputs[0]
      #expect(wanted.type == got.type && wanted.doubles == got.doubles)
    }
  }
}
