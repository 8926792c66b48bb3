package import KelvinGraph

/// A device whose answers about nodes follow from its kernel offers.
package protocol KernelDevice: Device {
  var kernelFamily: any KernelFamily { get }
}

extension KernelDevice {
  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    kernelFamily.support(for: node, in: graph, precision: precision)
  }

  package func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision {
    kernelFamily.effectivePrecision(precision, of: node, in: graph)
  }
}
