package import KelvinGraph

/// The passes, in the order in which they run.
package struct Pipeline: Sendable {
  package let passes: [any Pass]

  /// What every model goes through before it is planned.
  package static func standard(_ evaluator: any ConstantEvaluator) -> Pipeline {
    Pipeline(passes: [
      ComputeOutputs(),
      FoldConstants(evaluator: evaluator, keepsDequantization: true),
      FuseIntegers(),
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
      RemoveUnusedNodes(),
      RemoveUnusedCaptures(),
    ])
  }

  package init(passes: [any Pass]) { self.passes = passes }

  /// Runs every pass, on the regions of control flow as on the graph around them, verifying the graph after each one that
  /// changed it.
  ///
  /// - Throws: `GraphError` naming the pass that broke a rule.
  package func run(_ graph: Graph) throws(GraphError) -> PassResult {
    var result = PassResult(graph: graph, changes: [])
    for pass in passes {
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
