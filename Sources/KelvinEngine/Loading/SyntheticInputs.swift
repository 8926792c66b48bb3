import KelvinBasics
import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
import KelvinPlanning
package import KelvinRuntime

/// Returns synthetic inputs for runs whose results are not used. They are within the ranges that the model accepts,
/// and equal for equal seeds.
///
/// Pixels are integers in 0…255, mapped as the model specifies. Booleans are 0 or 1. Integers that select rows of a
/// table stay within the table; other integers are 0 or 1. Other numbers are uniform in -1 ..< 1.
/// - Returns: one tensor for each of the graph's inputs, of its type.
/// - Throws: `device` if the host has not enough memory for them.
package func madeUpInputs(for graph: Graph, features: [Feature], seed: UInt64) throws(RuntimeError) -> [Tensor] {
  do { try HostMemory.check(graph.types(graph.inputs), "made-up inputs") } catch { throw .device(error) }
  var random = SeededGenerator(seed: seed)
  let limits = graph.rowLimits()
  let types = Dictionary(features.map { ($0.name, $0.type) }) { first, _ in first }
  return graph.inputs.map { id in
    let type = graph[id].type
    if case .image(let image)? = types[graph[id].name] { return .random(image, type, &random) }
    if type.scalar.isFloatingPoint { return .random(type.scalar, type.shape, -1...1, &random) }
    let limit = type.scalar == .bool ? 2 : limits[id.index] ?? 2
    return Tensor(type) { _ in Double(Int.random(in: 0..<max(limit, 1), using: &random)) }
  }
}

extension Tensor {
  /// Returns the tensor of an image with random pixels.
  static func random(_ image: ImageFeature, _ type: TensorType, _ random: inout SeededGenerator) -> Tensor {
    let channelSize = image.width * image.height
    return Tensor(type) { index in
      let channel = index / max(channelSize, 1) % image.channels
      let pixel = Float(Int.random(in: 0...255, using: &random))
      return Double(image.scale[channel] * pixel + image.bias[channel])
    }
  }
}

extension LoadedModel {
  /// Returns the tensors that feature values are converted to, one for each input of a graph. Earlier parts run on
  /// the host.
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

  /// Returns synthetic values of the function's required inputs, those included on which only host operations and
  /// control flow depend.
  ///
  /// - Parameter given: the inputs that have values.
  /// - Throws: `invalidInput` for an input of unknown shape; `device` if the host has not enough memory for them.
  package func madeUpValues(seed: UInt64, besides given: Set<String>) throws -> [String: FeatureValue] {
    let values = try site.madeUp(function, graphs.compactMap { $0?.context.graph }, seed)
    for feature in function.inputs
    where feature.isRequired && values[feature.name] == nil && !given.contains(feature.name) {
      throw RuntimeError.invalidInput(
        name: feature.name,
        reason: "no value can be made up, because its shape is not known; give its shape "
          + "(--shape \(feature.name)=…) or its value (--input \(feature.name)=…)")
    }
    return values
  }

  /// Returns synthetic tensors, one for each input of a graph.
  ///
  /// - Parameter target: the graph; nil for the shown one.
  /// - Throws: `device` if the host has not enough memory for them.
  package func syntheticTensors(for target: LoadedGraph? = nil, seed: UInt64) throws(RuntimeError) -> [Tensor] {
    let target = target ?? shown
    if let sample = target.sample { return sample }
    return try madeUpInputs(for: target.context.graph, features: function.inputs, seed: seed)
  }
}

extension Graph {
  /// Returns for each value the least row count among the tables that it indexes, traced through operations that keep
  /// its elements; nil if it indexes none.
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
  /// Returns the sizes of the axes that the elements of the second input index.
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
