import KelvinGraph
import KelvinPasses

/// Builds graphs in which rows of padding lie before those of inputs that grow.
struct PaddedSource: GraphSource {
  let source: any GraphSource
  /// By input, the axis along which it grows by a row a step.
  let growing: [String: Int]

  /// The input that says how many rows count for nothing.
  static let slot = "padding rows"

  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    let builds = try (0..<3).map { less in
      var shorter = shapes
      for (input, axis) in growing {
        guard let size = shapes[input]?[axis], size > less else { throw GraphError("input '\(input)'", "has no row") }
        shorter[input]?[axis] = size - less
      }
      return try source.graph(shapes: shorter, computed: computed, evaluator: WholeNumberEvaluator(all: evaluator))
    }
    return try PaddedGraph.rewriting(builds, padding: Self.slot)
  }
}

/// Folds sizes and places alone: what is computed from them in floating point stays for `PaddedGraph` to see.
private struct WholeNumberEvaluator: ConstantEvaluator {
  let all: any ConstantEvaluator

  func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor] { try all.evaluate(op, inputs) }

  func folds(_ results: [TensorType]) -> Bool { results.allSatisfy { !$0.scalar.isFloatingPoint } }
}
