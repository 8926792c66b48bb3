package import KelvinGraph

/// A device that has kernels for some nodes and runs the bodies of those fused nodes that it has none for, so that
/// fusing never costs coverage: `support` and `expanded` follow from the one answer of `checkKernel`.
package protocol KernelDevice: Device {
  /// - Throws: `.unsupported` where no kernel runs this very node, its body aside.
  func checkKernel(for node: Node, in graph: Graph) throws(DeviceError)
}

extension KernelDevice {
  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    do throws(DeviceError) {
      try checkKernel(for: node, in: graph)
      return .supported
    } catch {
      return supportThroughBody(of: node, in: graph, precision: precision) ?? .unsupported(error.reason)
    }
  }

  /// The graph with a body in place of every fused node that has no kernel: what `compile` compiles.
  package func expanded(_ graph: Graph) -> ExpandedGraph {
    ExpandedGraph(graph) { node in
      do throws(DeviceError) {
        try checkKernel(for: node, in: graph)
        return false
      } catch {
        return true
      }
    }
  }

  /// Supported where every node of the body is, with the node's own operands; nil where there is no body.
  private func supportThroughBody(of node: Node, in graph: Graph, precision: Precision) -> Support? {
    guard node.body != nil else { return nil }
    var alone = graph
    alone.nodes = [node]
    let body = ExpandedGraph(alone) { _ in true }.graph
    for inner in body.nodes {
      if case .unsupported(let reason) = support(for: inner, in: body, precision: precision) {
        return .unsupported(reason)
      }
    }
    return .supported
  }
}
