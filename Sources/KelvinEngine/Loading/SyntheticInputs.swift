import KelvinBasics
import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
import KelvinPlanning
package import KelvinRuntime

/// Inputs for runs whose results nobody looks at: the same for the same seed, and within what the model accepts.
///
/// An image's pixels are whole numbers in 0…255, mapped as the model asks for; a truth value is 0 or 1; an integer that
/// selects rows of a table stays inside the table; any other integer is 0 or 1; other numbers are uniform in -1 ..< 1.
///
/// - Returns: one tensor for each of the graph's inputs, of its type.
/// - Throws: `device` where the host has no memory for them.
package func madeUpInputs(for graph: Graph, features: [Feature], seed: UInt64) throws(RuntimeError) -> [Tensor] {
  do { try HostMemory.check(graph.types(graph.inputs), "made-up inputs") } catch { throw .device(error) }
  var random = SeededGenerator(seed: seed)
  let limits = graph.rowLimits()
  let types = Dictionary(features.map { ($0.name, $0.type) }) { first, _ in first }
  return graph.inputs.map { id in
    let type = graph[id].type
    if case .image(let image)? = types[graph[id].name] {
      let channelSize = image.width * image.height
      return Tensor(type) { index in
        let channel = index / max(channelSize, 1) % image.channels
        let pixel = Float(Int.random(in: 0...255, using: &random))
        return Double(image.scale[channel] * pixel + image.bias[channel])
      }
    }
    if type.scalar.isFloatingPoint { return .random(type.scalar, type.shape, -1...1, &random) }
    let limit = type.scalar == .bool ? 2 : limits[id.index] ?? 2
    return Tensor(type) { _ in Double(Int.random(in: 0..<max(limit, 1), using: &random)) }
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
    let executor = FunctionExecutor(function)
    var tensors: [Tensor] = []
    try executor.visit(executor.binding.values(values)) { index, types, read in
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
  /// - Throws: `device` where the host has no memory for them.
  package func madeUpTensors(for target: LoadedGraph? = nil, seed: UInt64) throws(RuntimeError) -> [Tensor] {
    let target = target ?? shown
    if let sample = target.sample { return sample }
    return try madeUpInputs(for: target.context.graph, features: function.inputs, seed: seed)
  }
}

extension Graph {
  /// For each value, the least number of rows among the tables that it selects from, followed through operations that
  /// keep its elements; nil where it selects from none.
  fileprivate func rowLimits() -> [Int?] {
    var limits = [Int?](repeating: nil, count: values.count)
    func note(_ rows: Int?, of id: ValueID) {
      if let rows { limits[id.index] = min(limits[id.index] ?? rows, rows) }
    }
    for node in nodes.reversed() {
      switch node.op {
      case is Cast, is Reshape, is Transpose, is Slice, is Expand:
        note(limits[node.outputs[0].index], of: node.inputs[0])
      default:
        guard node.inputs.count > 1 else { continue }
        note(node.op.indexed(self[node.inputs[0]].type.shape).min(), of: node.inputs[1])
      }
    }
    return limits
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
