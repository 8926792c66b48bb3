import KelvinBasics
package import KelvinGraph

/// The passes, in the order in which they run.
package struct Pipeline: Sendable {
  package let passes: [any Pass]

  /// Returns the passes that run on every model before planning.
  package static func standard(_ evaluator: any ConstantEvaluator) -> Pipeline {
    Pipeline(passes: [
      ComputeOutputs(),
      FoldConstants(evaluator: evaluator, keepsDequantization: true),
      FuseIntegers(),
      FuseDynamicQuantization(),
      FoldDequantization(),
      FoldConstants(evaluator: evaluator),
      RemoveIdentities(),
      FoldBatchNormalization(),
      ConvertMatMul(),
      RecognizeLayerNormalization(),
      FoldTranspositions(),
      MergeClips(),
      RecognizeActivations(),
      RecognizeGELU(),
      FoldBias(),
      FuseEpilogue(),
      RecognizeAttention(),
      RecognizeCacheUpdates(),
      JoinProjections(),
      FuseNormalization(),
      RemoveUnusedNodes(),
      RemoveUnusedCaptures(),
    ])
  }

  package init(passes: [any Pass]) { self.passes = passes }

  /// The names of the passes, in order: `fold-constants`, and `fold-constants-2` for a second run.
  package var names: [String] {
    var counts: [String: Int] = [:]
    return passes.map { pass in
      let name = type(of: pass).name.split(separator: " ").joined(separator: "-")
      counts[name, default: 0] += 1
      let count = counts[name] ?? 1
      return count == 1 ? name : "\(name)-\(count)"
    }
  }

  /// Returns the passes up to and including the one of a name; no passes for `none`.
  ///
  /// - Throws: `GraphError` that lists the valid names.
  package func stopping(after name: String) throws(GraphError) -> Pipeline {
    if name == "none" { return Pipeline(passes: []) }
    guard let index = names.firstIndex(of: name) else {
      throw GraphError("pass '\(name)'", "no pass has this name; use none, \(names.joined(separator: ", "))")
    }
    return Pipeline(passes: Array(passes[...index]))
  }

  /// Runs every pass, on the regions of control flow as on the graph around them, and verifies the graph after each
  /// pass that changed it.
  ///
  /// - Throws: `GraphError` that names the pass that violated an invariant.
  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var result = PassResult(graph: graph, changes: [])
    WorkBudget.enter(.passes)
    for pass in passes {
      if WorkBudget.isSpent { throw GraphError("pass '\(type(of: pass).name)'", "does not start: a limit was reached") }
      let step = try pass.runInside(result.graph)
      guard !step.changes.isEmpty else { continue }
      do { try step.graph.verify() } catch {
        throw GraphError("pass '\(type(of: pass).name)'", "broke the graph: \(error)")
      }
      result.graph = step.graph
      result.changes += step.changes
    }
    return result
  }
}
