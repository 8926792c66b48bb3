import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// The reference device runs the decomposition of a node; its own kernel evaluates constants.
struct DecompositionTests {
  @Test func decompositionsGiveTheResultsOfTheirOperators() throws {
    var names: Set<String> = []
    for one in ConformanceCase.all where one.graph.nodes.count == 1 && one.graph.nodes[0].body != nil {
      let node = one.graph.nodes[0]
      guard let op = node.op as? any DecomposableOperator, !(op is any FusedOperator) else { continue }
      names.insert(op.name)
      var given = one.inputs[...]
      let operands = node.inputs.compactMap { one.graph[$0].weight?.dense() ?? given.popFirst() }
      let wanted = try ReferenceEvaluator().evaluate(op, operands)[0]
      let got = try ReferenceDevice().run(one.graph, one.inputs).outputs[0]
      let tolerance = op.tolerance(.full, operands.map(\.type))
      #expect(tolerance.difference(of: got, from: wanted) == nil, "\(one)")
    }
    #expect(names == ["layer_normalization", "normalized_linear", "overlap_add", "pad", "rotary_embedding"])
  }
}
