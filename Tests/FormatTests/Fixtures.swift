import Glibc
import KelvinGraph
import KelvinImport
import KelvinReference

/// Files that every checkout may have beside it.
enum Shared {
  static let packageRoot = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

  /// `$KELVIN_SHARED`, or `../shared` from the package's root.
  static let root: String =
    getenv("KELVIN_SHARED").map { String(cString: $0) } ?? "\(packageRoot)/../shared"

  static var isPresent: Bool { access("\(root)/models", R_OK) == 0 }
  static let reason = "needs the shared models at ../shared or $KELVIN_SHARED"

  static func model(_ name: String) -> String { "\(root)/models/\(name)" }

  static func array(_ name: String) throws -> Tensor {
    try NPY.read(Bytes(mapping: "\(root)/expected/\(name)"), name: name)
  }
}

/// Evaluates a graph node by node on the reference device.
func run(_ graph: Graph, _ inputs: [Tensor]) throws -> [Tensor] {
  let evaluator = ReferenceEvaluator()
  var values: [ValueID: Tensor] = [:]
  for (id, tensor) in zip(graph.inputs, inputs) { values[id] = tensor }
  func tensor(_ id: ValueID) -> Tensor? { values[id] ?? graph[id].weight?.dense() }
  for node in graph.nodes {
    let results = try evaluator.evaluate(node.op, node.inputs.compactMap(tensor))
    for (id, result) in zip(node.outputs, results) { values[id] = result }
  }
  return graph.outputs.compactMap(tensor)
}

extension ModelProgram {
  var main: Function {
    get throws {
      guard let function = functions[defaultFunction] else { throw FixtureError("no default function") }
      return function
    }
  }

  func graph(_ shapes: [String: Shape] = [:]) throws -> Graph {
    try main.graph(shapes: shapes, evaluator: ReferenceEvaluator())
  }
}

struct FixtureError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
