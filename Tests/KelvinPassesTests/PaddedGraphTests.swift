import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import Testing

/// Graphs whose inputs grow, rewritten to take padding in front: at every length worth what the graph of that length is.
@Suite struct PaddedGraphTests {
  /// Does not fold floats, so that positions keep the values that they are computed from.
  private struct WholeNumbers: ConstantEvaluator {
    func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor] {
      try ReferenceEvaluator().evaluate(op, inputs)
    }
    func folds(_ results: [TensorType]) -> Bool { results.allSatisfy { !$0.scalar.isFloatingPoint } }
  }

  private static let (heads, width, most) = (2, 4, 40)

  /// Writes what makes outputs of the past `[1, heads, length, width]` and the token's `[1, heads, 1, width]`.
  private typealias Body = (inout Writer, _ past: ValueID, _ new: ValueID, _ length: Int) throws -> [ValueID]

  private struct Writer {
    var builder: GraphBuilder

    mutating func add(_ op: any Operator, _ operands: ValueID...) throws -> ValueID {
      try builder.add(op, operands, name: op.name, origin: Origin(name: op.name, kind: "Test", index: 0))[0]
    }
    mutating func integers(_ values: Range<Int>, _ shape: Shape? = nil) -> ValueID {
      builder.constant("places", Tensor(values.map(Int64.init), shape ?? [values.count]))
    }
    mutating func table(_ shape: Shape, seed: UInt64) -> ValueID {
      var random = SeededGenerator(seed: seed)
      return builder.constant("table", Tensor.random(.float32, shape, -1...1, &random))
    }
  }

  private func graph(_ length: Int, _ body: Body, _ evaluator: any ConstantEvaluator = WholeNumbers()) throws -> Graph {
    var writer = Writer(builder: GraphBuilder(evaluator: evaluator))
    let past = try writer.builder.input("past", TensorType(.float32, [1, Self.heads, length, Self.width]))
    let new = try writer.builder.input("new", TensorType(.float32, [1, Self.heads, 1, Self.width]))
    for output in try body(&writer, past, new, length) { writer.builder.output(output) }
    return try writer.builder.finish()
  }

  private func padded(_ length: Int, _ body: Body, _ evaluator: any ConstantEvaluator = WholeNumbers()) throws -> Graph
  {
    try PaddedGraph.rewriting((0..<3).map { try graph(length - $0, body, evaluator) }, padding: "rows")
  }

  /// Self-attention of a token whose position comes from a slice of a table, a row that is gathered from another and,
  /// depending on `masked`, a mask of positions.
  private func attention(masked: Int) -> Body {
    { writer, past, new, length in
      let (heads, width, total) = (Self.heads, Self.width, length + 1)
      let sines = writer.table([Self.most, width], seed: 1)
      let slice = try writer.add(Slice(starts: [length, 0], counts: [1, width], steps: [1, 1]), sines)
      let row = try writer.add(
        Gather(axis: 0), writer.table([Self.most, width], seed: 2), writer.integers(length..<total))
      let placed = try writer.add(Binary(.multiply), try writer.add(Binary(.add), new, slice), row)
      let keys = try writer.add(Concat(axis: 2), past, placed)
      let turned = try writer.add(Transpose([0, 1, 3, 2]), keys)
      let flat = try writer.add(Reshape([heads, width, total]), turned)
      var scores = try writer.add(MatMul(), try writer.add(Reshape([heads, 1, width]), placed), flat)
      let places = writer.integers(0..<total)
      switch masked {
      case 1:
        // Farther keys count less.
        let far = try writer.add(Binary(.subtract), places, writer.integers(length..<total, [1, 1]))
        let slopes = try writer.add(Cast(.float32), far)
        scores = try writer.add(
          Binary(.add), scores, try writer.add(Binary(.multiply), slopes, writer.table([heads, 1, 1], seed: 3)))
      case 2:
        // Every third position is masked out, by a table of the causal kind.
        let third = try writer.add(Gather(axis: 1), writer.table([1, Self.most], seed: 4), places)
        scores = try writer.add(Binary(.add), third, scores)
      case 3:
        let near = try writer.add(Compare(.greaterOrEqual), places, writer.integers(length - 2..<length - 1, [1]))
        let low = writer.builder.constant("low", Tensor([Float(-3)], []))
        scores = try writer.add(Select(), near, scores, low)
      default: break
      }
      let shares = try writer.add(Softmax(axis: 2), scores)
      let values = try writer.add(Reshape([heads, total, width]), keys)
      return [try writer.add(MatMul(), shares, values), keys]
    }
  }

  @Test(arguments: 0..<4) func paddedGraphMatchesEveryLength(masked: Int) throws {
    let longest = 12
    let body = attention(masked: masked)
    let graph = try padded(longest, body)
    let passed = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
    // If positions are added to the scores, or not used at all, attention is recognized as before.
    if masked < 3 { #expect(passed.nodes.contains { $0.op is Attention }, "\(passed)") }
    var random = SeededGenerator(seed: UInt64(masked))
    for length in 3...longest {
      let past = Tensor.random(.float32, [1, Self.heads, length, Self.width], -1...1, &random)
      let new = Tensor.random(.float32, [1, Self.heads, 1, Self.width], -1...1, &random)
      let wanted = try ReferenceDevice().run(try self.graph(length, body), [past, new]).outputs
      let rows = longest - length
      let room = Tensor(TensorType(.float32, [1, Self.heads, longest, Self.width])) { index in
        let (head, row) = (index / (longest * Self.width), index / Self.width % longest)
        return row < rows ? 0 : past.doubles[(head * length + row - rows) * Self.width + index % Self.width]
      }
      for form in [graph, passed] {
        let got = try ReferenceDevice().run(form, [room, new, Tensor([Int64(rows)], [])]).outputs
        let tolerance = Tolerance(relative: 1e-5, absolute: 1e-6)
        #expect(tolerance.difference(of: got[0], from: wanted[0]) == nil, "length \(length)")
        #expect(got[1].doubles.suffix(Self.width) == wanted[1].doubles.suffix(Self.width))
      }
    }
  }

  @Test func operationsAffectedByPaddingAreRefused() throws {
    let bodies: [(Body, String)] = [
      ({ writer, past, _, _ in [try writer.add(Reduce(.sum, axes: [2], keepsDimensions: false), past)] }, "reduce"),
      ({ writer, past, new, _ in [try writer.add(Concat(axis: 2), new, past)] }, "concat"),
      (
        { writer, past, _, _ in
          [
            try writer.add(
              Slice(starts: [0, 0, 0, 0], counts: [1, Self.heads, 2, Self.width], steps: [1, 1, 1, 1]), past)
          ]
        }, "slice"
      ),
      ({ writer, past, _, length in [try writer.add(Reshape([1, Self.heads, length * Self.width]), past)] }, "growth"),
      (
        { writer, past, new, length in
          // Products of all keys, which nothing has made zero where padding is.
          [try writer.add(MatMul(transposesX: true), past, past)]
        }, "matmul"
      ),
    ]
    for (body, place) in bodies {
      let error = #expect(throws: GraphError.self) { try padded(8, body) }
      #expect(error?.description.contains(place) == true, "\(error as Any)")
    }
    // After folding, the values that the positions are computed from are not known.
    #expect(throws: GraphError.self) { try padded(8, attention(masked: 0), ReferenceEvaluator()) }
  }
}
