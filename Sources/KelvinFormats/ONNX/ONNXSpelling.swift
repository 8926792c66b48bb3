/// Operators that other operators spell. They are written out before a model is cut into stages, which may go through
/// them.
enum ONNXSpelling {
  /// By what they spell.
  static let byName: [String: @Sendable (ONNXNode) -> [ONNXNode]] = ["Compress": compress]

  static func spelledOut(_ nodes: [ONNXNode]) -> [ONNXNode] { nodes.flatMap { byName[$0.qualifiedKind]?($0) ?? [$0] } }

  /// Along an axis, the elements at which a condition is true; without one, of all elements in a row.
  @Sendable private static func compress(_ node: ONNXNode) -> [ONNXNode] {
    guard node.inputs.count == 2, let output = node.outputs.first else { return [node] }
    let name = node.name
    func step(_ kind: String, _ inputs: [String], _ output: String) -> ONNXNode {
      var step = ONNXNode(kind: kind, inputs: inputs, outputs: [output], at: node)
      step.givenName = output
      return step
    }
    var whole = step("Constant", [], "\(name)/whole")
    whole.attributes["value_ints"] = ONNXAttribute(integers: [-1])
    let found = step("NonZero", [node.inputs[1]], "\(name)/found")
    let places = step("Reshape", ["\(name)/found", "\(name)/whole"], "\(name)/places")
    var picked = ONNXNode(kind: "Gather", inputs: [node.inputs[0], "\(name)/places"], outputs: [output], at: node)
    picked.givenName = name
    guard let axis = node.attributes["axis"] else {
      picked.inputs[0] = "\(name)/row"
      return [whole, found, places, step("Reshape", [node.inputs[0], "\(name)/whole"], "\(name)/row"), picked]
    }
    picked.attributes["axis"] = axis
    return [whole, found, places, picked]
  }
}
