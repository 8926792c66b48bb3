import KelvinGraph
import KelvinImport

/// A change of attributes between operator sets before set 7. Nodes of earlier sets are rewritten when a model is read,
/// so that mappers see the form of set 7. Changes of inputs are in the mappers.
struct ONNXVersionChange: Sendable {
  let operators: [String]
  /// The operator set that made the change.
  let version: Int
  /// Rewrites a node of an earlier set.
  let rewrite: @Sendable (inout ONNXNode) -> Void

  static let all: [ONNXVersionChange] = [
    ONNXVersionChange(operators: ["LpPool", "GlobalLpPool"], version: 2) { node in
      guard let order = node.attributes["p"]?.float.flatMap({ Int(exactly: $0) }) else { return }
      node.attributes["p"] = ONNXAttribute(integer: order)
    },
    ONNXVersionChange(operators: ["Pad"], version: 2) { node in node.attributes.rename("paddings", to: "pads") },
    ONNXVersionChange(operators: ["Concat"], version: 4) { node in
      node.attributes.setDefault("axis", ONNXAttribute(integer: 1))
    },
    ONNXVersionChange(operators: ["Cast"], version: 6) { node in
      guard let number = node.attributes["to"]?.text.flatMap({ elementTypes[$0.uppercased()] }) else { return }
      node.attributes["to"] = ONNXAttribute(integer: number)
    },
    ONNXVersionChange(operators: ["Selu"], version: 6) { node in
      node.attributes.setDefault("alpha", ONNXAttribute(float: 1.6732))
      node.attributes.setDefault("gamma", ONNXAttribute(float: 1.0507))
    },
    ONNXVersionChange(operators: ["Upsample"], version: 7) { node in
      guard let height = node.attributes["height_scale"]?.float, let width = node.attributes["width_scale"]?.float
      else {
        return
      }
      node.attributes["scales"] = ONNXAttribute(floats: [1, 1, height, width])
    },
  ]

  /// The numbers of element types by the names that `Cast` used.
  private static let elementTypes: [String: Int] = {
    typealias Number = ONNXSchema.TensorProto.DataType
    return [
      "FLOAT": Number.float, "UINT8": Number.uint8, "INT8": Number.int8, "UINT16": Number.uint16,
      "INT16": Number.int16, "INT32": Number.int32, "INT64": Number.int64, "STRING": Number.string,
      "BOOL": Number.bool, "FLOAT16": Number.float16, "DOUBLE": Number.double, "UINT32": Number.uint32,
      "UINT64": Number.uint64,
    ]
  }()

  private static let depthLimit = 16

  /// Rewrites the nodes of a graph and of its sub-graphs.
  ///
  /// - Parameter opset: The model's version of the standard operator set.
  static func update(_ graph: inout ONNXGraph, from opset: Int, depth: Int = 0) throws(FormatError) {
    let changes = all.filter { opset < $0.version }
    guard !changes.isEmpty else { return }
    for index in graph.nodes.indices {
      for change in changes where change.operators.contains(graph.nodes[index].qualifiedKind) {
        change.rewrite(&graph.nodes[index])
      }
      for (key, attribute) in graph.nodes[index].attributes where attribute.hasGraphs && depth < depthLimit {
        guard var inner = try attribute.subgraphs().first else { continue }
        try update(&inner, from: opset, depth: depth + 1)
        graph.nodes[index].attributes[key]?.rewritten = inner
      }
    }
  }
}

extension [String: ONNXAttribute] {
  fileprivate mutating func rename(_ old: String, to new: String) {
    guard let attribute = removeValue(forKey: old) else { return }
    self[new] = attribute
  }

  fileprivate mutating func setDefault(_ name: String, _ attribute: ONNXAttribute) {
    if self[name] == nil { self[name] = attribute }
  }
}

extension ONNXOperation {
  /// Returns the second operand of an element-wise operator.
  ///
  /// With `broadcast` and `axis`, which operator sets before 7 have, the operand's axes are those of the first operand
  /// from `axis` on. Otherwise operands are aligned by NumPy's rules.
  func secondOperand() throws -> ValueID {
    let (x, y) = (try input(0), try input(1))
    guard opset < 7, flag("broadcast"), let axis = node.attributes["axis"]?.integer else { return y }
    let (rank, sizes) = (emitter.shape(x).rank, emitter.shape(y).dimensions)
    let place = sizes.isEmpty ? 0 : try emitter.axis(axis, of: x)
    guard place + sizes.count <= rank else {
      throw emitter.invalid("\(emitter.type(y)) does not fit \(emitter.type(x)) from axis \(axis) on")
    }
    let ones = [Int](repeating: 1, count: rank - place - sizes.count)
    return ones.isEmpty ? y : try emitter.reshape(y, Shape(sizes + ones), step: "aligned")
  }
}
