import KelvinBasics
import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// Inputs for runs whose results nobody looks at: the same for the same seed, and within what the model accepts.
///
/// An image's pixels are whole numbers in 0…255, mapped as the model asks for; a truth value is 0 or 1; an integer that
/// selects rows of a table stays inside the table; any other integer is 0 or 1; other numbers are uniform in -1 ..< 1.
///
/// - Returns: one tensor for each of the graph's inputs, of its type.
package func madeUpInputs(for graph: Graph, features: [Feature], seed: UInt64) -> [Tensor] {
  var random = SeededGenerator(seed: seed)
  return graph.inputs.map { id in
    let type = graph[id].type
    if case .image(let image)? = features.first(where: { $0.name == graph[id].name })?.type {
      let channelSize = image.width * image.height
      let values = (0..<type.count).map { index in
        let channel = index / max(channelSize, 1) % image.channels
        let pixel = Float(Int.random(in: 0...255, using: &random))
        return Double(image.scale[channel] * pixel + image.bias[channel])
      }
      return Tensor(type, rounding: values)
    }
    if type.scalar.isFloatingPoint { return .random(type.scalar, type.shape, -1...1, &random) }
    let limit = type.scalar == .bool ? 2 : graph.rowLimit(of: id) ?? 2
    return Tensor(
      type, rounding: (0..<type.count).map { _ in Double(Int.random(in: 0..<max(limit, 1), using: &random)) })
  }
}

extension LoadedModel {
  /// The tensors that feature values become, one for each input of a graph. What runs before it does so on the host.
  ///
  /// - Parameter target: the graph; nil for the shown one.
  /// - Throws: `ModelError` with code `featureType` naming a feature that is missing or does not fit.
  package func tensors(of values: some FeatureProvider, for target: LoadedGraph? = nil) throws -> [Tensor] {
    let target = target ?? shown
    if let sample = target.sample { return sample }
    let walk = FunctionWalk(function)
    var tensors: [Tensor] = []
    try walk.visit(walk.binding.values(values)) { index, types, read in
      guard function.graphParts[index].name != target.part.name else {
        tensors = try read(target.context.graph)
        return nil
      }
      return try hosted(index, for: types)
    }
    return tensors
  }

  /// Made-up tensors, one for each input of a graph.
  ///
  /// - Parameter target: the graph; nil for the shown one.
  package func madeUpTensors(for target: LoadedGraph? = nil, seed: UInt64) -> [Tensor] {
    let target = target ?? shown
    return target.sample ?? madeUpInputs(for: target.context.graph, features: function.inputs, seed: seed)
  }
}

extension Graph {
  /// The least number of rows among the tables that a value selects from, followed through operations that keep its
  /// elements; nil where it selects from none.
  fileprivate func rowLimit(of value: ValueID) -> Int? {
    var limit: Int?
    var carriers: Set<ValueID> = [value]
    for node in nodes {
      guard let position = node.inputs.firstIndex(where: { carriers.contains($0) }) else { continue }
      if position == 1, let rows = node.op.indexed(self[node.inputs[0]].type.shape).min() {
        limit = min(limit ?? rows, rows)
      } else if node.op is Cast || node.op is Reshape || node.op is Transpose || node.op is Slice || node.op is Expand {
        carriers.formUnion(node.outputs)
      }
    }
    return limit
  }
}

extension Operator {
  /// The sizes of the axes that the elements of the second input count along.
  fileprivate func indexed(_ shape: Shape) -> ArraySlice<Int> {
    switch self {
    case let op as Gather: [shape[op.axis]]
    case let op as GatherElements: [shape[op.axis]]
    case let op as ScatterElements: [shape[op.axis]]
    case let op as GatherND: shape.dimensions[op.batchDimensions...]
    case is ScatterND: shape.dimensions[...]
    default: []
    }
  }
}
