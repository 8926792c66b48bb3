import KelvinConformance
import KelvinGraph

/// Cases for a device that stores float32 as float16 between nodes. Operands are exact in float16, so that rounding
/// only affects results, and results beyond its range are infinite.
extension ConformanceCase {
  var inHalves: ConformanceCase {
    ConformanceCase(name: name, graph: graph.inHalves, inputs: inputs.map { $0.rounded(\.finiteHalfBits) })
  }
}

extension Tensor {
  /// The tensor as stored by such a device.
  var inHalves: Tensor { rounded(\.halfBits) }

  fileprivate func rounded(_ halfBits: (Float) -> UInt16) -> Tensor {
    guard type.scalar == .float32 else { return self }
    return Tensor(floats.map { Float(halfBits: halfBits($0)) }, type.shape)
  }
}

extension Graph {
  fileprivate var inHalves: Graph {
    var graph = self
    for index in values.indices {
      guard let weight = values[index].weight else { continue }
      graph.values[index].weight = Weight(weight.dense().rounded(\.finiteHalfBits))
    }
    for index in nodes.indices { graph.nodes[index].body = nodes[index].body?.inHalves }
    return graph
  }
}
