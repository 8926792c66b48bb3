import KelvinGraph
import KelvinPasses

extension Function {
  /// The input with the number of padding rows.
  static let paddingInput = "padding rows"

  /// Returns the function with padding rows before the rows of inputs that grow by a row per step. An additional
  /// input has the number of padding rows (`paddingInput`).
  ///
  /// - Parameter growing: by input, the axis along which it grows.
  /// - Returns: nil if the function is not a single graph of known sizes. Building the graph determines whether it
  ///   supports padding.
  func padded(_ growing: [String: Int]) -> Function? {
    guard case .graph(var part)? = parts.first, parts.count == 1, part.valueDependent.isEmpty,
      !inputs.contains(where: { if case .state = $0.type { true } else { false } })
    else { return nil }
    part.source = PaddedSource(source: part.source, growing: growing)
    part.name = "padded"
    part.inputs.append(Self.paddingInput)
    var padded = self
    padded.inputs.append(Feature(name: Self.paddingInput, type: .tensor(.int64, [])))
    padded.parts = [.graph(part)]
    padded.runningOnHost = nil
    if let make = overriding {
      padded.overriding = { (names: Set<String>) throws -> Function in
        guard let other = try make(names).padded(growing) else {
          let values = names.sorted().map { "'\($0)'" }.joined(separator: ", ")
          throw GraphError("the graph", "has data-dependent sizes with other values for \(values)")
        }
        return other
      }
    }
    return padded
  }
}

/// A source of graphs with padding rows before the rows of growing inputs.
private struct PaddedSource: GraphSource {
  let source: any GraphSource
  /// By input, the axis along which it grows by a row per step.
  let growing: [String: Int]

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
    return try PaddedGraph.rewriting(builds, padding: Function.paddingInput)
  }
}

/// Folds only integer results, such as sizes and indices; floating-point computations stay visible to `PaddedGraph`.
private struct WholeNumberEvaluator: ConstantEvaluator {
  let all: any ConstantEvaluator

  func evaluate(_ op: any Operator, _ inputs: [Tensor]) throws(GraphError) -> [Tensor] { try all.evaluate(op, inputs) }

  func folds(_ results: [TensorType]) -> Bool { results.allSatisfy { !$0.scalar.isFloatingPoint } }
}
