import KelvinGraph
import KelvinImport

extension ONNXParts {
  /// Returns the parts of a branch that the host executes, preceded by a graph that computes its condition if that is
  /// known while graphs are built.
  ///
  /// - Parameters:
  ///   - known: The nodes that compute those inputs of the sides and of the condition that are known while graphs are
  ///     built.
  ///   - computed: Their inputs that other parts compute.
  /// - Throws: `FormatError` if one side produces a sequence and the other does not.
  func parts(
    of branch: ONNXHostBranch, _ name: String, _ known: [ONNXNode], _ computed: [String]
  ) throws(FormatError) -> [FunctionPart] {
    let node = branch.node
    let results = node.outputs.indices.filter { !node.outputs[$0].isEmpty }
    func side(_ graph: ONNXGraph, _ suffix: String) throws(FormatError) -> BranchPart.Side {
      let inside = inside(graph, try graph.lowPrecisionTypes(around: lowPrecisionType), try graph.listNames())
      let left = results.map { graph.outputs[$0].name }
      for (result, left) in zip(results, left)
      where model.listNames.contains(node.outputs[result]) != inside.model.listNames.contains(left) {
        throw FormatError(
          .malformed, file: file, place: "\(node.kind) '\(node.name)'", offset: node.offset,
          "'\(left)' is a sequence on one side and not on the other")
      }
      let nodes = known + graph.nodes
      let read = try read(by: nodes, of: computed)
      let inputs = read + computed.filter { left.contains($0) && !read.contains($0) }
      let parts = try inside.graphs("\(name).\(suffix)", nodes, inputs, left.withoutRepetition)
      return BranchPart.Side(parts: parts, left: left.flatMap { inside.slots(of: [$0]) })
    }
    return try start(of: node, name, known, computed) + [
      .branch(
        BranchPart(
          name: node.name, condition: node.inputs[0], then: try side(branch.then, "then"),
          otherwise: try side(branch.otherwise, "else"), outputs: slots(of: results.map { node.outputs[$0] }),
          captured: slots(of: computed)))
    ]
  }
}

/// An `If` that the host executes: it evaluates the condition and runs one side.
struct ONNXHostBranch {
  let node: ONNXNode
  let then: ONNXGraph
  let otherwise: ONNXGraph

  /// Returns nil if the operator is not a well-formed branch, which graph building refuses.
  init?(_ node: ONNXNode) throws(FormatError) {
    guard node.qualifiedKind == ONNXControl.branch.name, node.inputs.count == 1,
      let then = try node.attributes["then_branch"]?.subgraphs().first,
      let otherwise = try node.attributes["else_branch"]?.subgraphs().first,
      then.outputs.count == node.outputs.count, otherwise.outputs.count == node.outputs.count
    else { return nil }
    (self.node, self.then, self.otherwise) = (node, then, otherwise)
  }

  /// Whether the file declares different sizes for the same output of the two sides.
  var differs: Bool {
    zip(then.outputs, otherwise.outputs).contains { then, otherwise in
      guard let sizes = then.sizes, let others = otherwise.sizes else { return false }
      return sizes.count != others.count
        || zip(sizes, others).contains { size, other in
          guard let size = size.value, let other = other.value else { return false }
          return size != other
        }
    }
  }
}
