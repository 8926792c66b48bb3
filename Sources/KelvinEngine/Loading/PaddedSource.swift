import KelvinGraph
import KelvinPasses

/// A source of graphs with padding rows before the rows of growing inputs.
struct PaddedSource: GraphSource {
  let source: any GraphSource
  /// By input, the axis along which it grows by a row per step.
  let growing: [String: Int]

  /// The input with the number of padding rows.
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

/// Folds only integer results, such as sizes and indices; floating-point computations stay visible to `PaddedGraph`.
private struct WholeNumberEvaluator: ConstantEvaluator {
  let all: any ConstantEvaluator

  func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor] { try all.evaluate(op, inputs) }

  func folds(_ results: [TensorType]) -> Bool { results.allSatisfy { !$0.scalar.isFloatingPoint } }
}
