import KelvinGraph
import KelvinImport

/// A mapper that emits an ONNX operator with sub-graphs as control flow.
struct ONNXControl: OperationMapper {
  let name: String
  /// Returns the inputs of a node whose elements must be known while the graph is built.
  var valueDependentInputs: @Sendable (ONNXNode) -> Set<Int> = { _ in [] }
  /// Whether a node has outputs whose size is known only after it ran.
  var hasDataDependentShape: @Sendable (ONNXNode) -> Bool = { _ in false }
  let map: @Sendable (ONNXOperation, ONNXGraphSource, ONNXScope) throws -> [ONNXEntity]

  static let byName: [String: ONNXControl] = table([branch, flexAttention, loop, scan, sequenceMap])
}

extension ONNXOperation {
  /// Returns a sub-graph of the node.
  func graph(_ attribute: String) throws -> ONNXGraph {
    guard let graph = try node.attributes[attribute]?.subgraphs().first else {
      throw emitter.invalid("has no \(attribute)")
    }
    return graph
  }
}

extension ONNXGraphSource {
  /// Emits the nodes of a sub-graph, whose inputs are defined, and returns its outputs.
  func entities(of graph: ONNXGraph, _ operation: ONNXOperation, _ scope: ONNXScope) throws -> [ONNXEntity] {
    for node in graph.nodes { try add(node, scope) }
    let place = "\(operation.node.kind) '\(operation.node.name)'"
    var results: [ONNXEntity] = []
    for output in graph.outputs {
      results.append(try scope.entity(output.name, reader: place, offset: output.offset))
    }
    return results
  }

  /// Emits the nodes of a sub-graph whose outputs are all tensors, and returns the outputs.
  func outputs(of graph: ONNXGraph, _ operation: ONNXOperation, _ scope: ONNXScope) throws -> [ValueID] {
    for node in graph.nodes { try add(node, scope) }
    let place = "\(operation.node.kind) '\(operation.node.name)'"
    var results: [ValueID] = []
    for output in graph.outputs {
      results.append(try scope.value(output.name, reader: place, offset: output.offset))
    }
    return results
  }
}
