import KelvinDevices
import KelvinGraph

/// Nodes on small operands, for the kernels of an instruction set.
struct VariantExample {
  typealias Operand = NodeExample.Operand

  /// Whether there are kernels for the nodes on blocks of channels, and for rounded operands.
  let onBlocks, rounds: Bool
  private let example: NodeExample

  var graph: Graph { example.graph }

  init(_ nodes: [NodeExample.Entry], onBlocks: Bool = false, rounds: Bool = false) throws {
    (self.onBlocks, self.rounds) = (onBlocks, rounds)
    example = try NodeExample(nodes)
  }

  /// Returns the tolerance for a node's result against the portable kernels. The operands are exact in the rounded
  /// type, unless a transform adds them up first.
  func tolerance(of node: Node, rounds: Bool) -> Tolerance {
    let window = (node.op as? Convolution)?.window
    let addsFirst = window?.kernel == [3, 3] && window?.strides == [1, 1]
    return node.op.tolerance(rounds && addsFirst ? .low : .full, graph.types(node.inputs))
  }

  /// - Returns: the elements of each node's result.
  func run(on device: CPUDevice, _ precision: Precision) throws(DeviceError) -> [[Double]] {
    try example.run(on: device, precision)
  }
}
