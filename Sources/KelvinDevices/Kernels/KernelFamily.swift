package import KelvinGraph

/// The kernels of a device. A node without kernels is replaced by its body, so that fusing never reduces coverage.
/// Support, expansion, precision and compiled kernels all follow from `offers`.
package protocol KernelFamily: Sendable {
  associatedtype Kernel

  /// Returns the implementations of this very node, without its body: at least one, best first.
  ///
  /// - Throws: `.unsupported` if there is none.
  func offers(for request: KernelRequest) throws(DeviceError) -> [KernelOffer<Kernel>]

  /// Returns the types of a node's inputs as its kernels store them, which select self-tests.
  func storedInputs(of node: Node, in graph: Graph, precision: Precision) -> [TensorType]

  /// Returns an equivalent graph on a node's operands, for a node without offers: a fused node's body, unless the
  /// device has a better one. nil if the device must not compute the node in parts at this precision.
  func body(of node: Node, in graph: Graph, precision: Precision) -> Graph?
}

extension KernelFamily {
  package func storedInputs(of node: Node, in graph: Graph, precision: Precision) -> [TensorType] {
    graph.types(node.inputs)
  }

  package func body(of node: Node, in graph: Graph, precision: Precision) -> Graph? { node.body }

  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    do throws(DeviceError) {
      _ = try offers(for: KernelRequest(node, in: graph, precision: precision))
      return .supported
    } catch {
      guard let body = body(of: node, in: graph, precision: precision) else { return .unsupported(error.reason) }
      return support(for: body, of: node, in: graph, precision: precision)
    }
  }

  /// Returns the precision of the best offer. If the body runs instead, it is the lowest precision among the body's
  /// nodes.
  package func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision {
    do throws(DeviceError) {
      return try offers(for: KernelRequest(node, in: graph, precision: precision)).first?.precision ?? .full
    } catch {
      guard let body = body(of: node, in: graph, precision: precision) else { return .full }
      let expanded = placed(body, of: node, in: graph)
      let answers = expanded.nodes.map { effectivePrecision(precision, of: $0, in: expanded) }
      return answers.contains(.low) ? .low : answers.contains(.high) ? .high : .full
    }
  }

  /// Returns the keys of the device's implementations of a node itself; empty if its body runs instead.
  package func implementations(of node: Node, in graph: Graph, precision: Precision = .full) -> Set<String> {
    let offers = try? offers(for: KernelRequest(node, in: graph, precision: precision))
    return Set((offers ?? []).map(\.key))
  }

  /// Returns the graph in which nodes without kernels are replaced by their bodies, as `compile` compiles it.
  package func expanded(_ graph: Graph, precision: Precision = .full) -> ExpandedGraph {
    ExpandedGraph(graph) { node, graph in
      do throws(DeviceError) {
        _ = try offers(for: KernelRequest(node, in: graph, precision: precision))
        return nil
      } catch {
        return body(of: node, in: graph, precision: precision)
      }
    }
  }

  /// Returns the kernels that compute a segment.
  ///
  /// - Throws: `.unsupported` for a node that has none.
  package func selection(for segment: Segment) throws(DeviceError) -> KernelSelection<Kernel> {
    let expanded = expanded(segment.graph, precision: segment.precision)
    var offers: [[KernelOffer<Kernel>]] = []
    for node in expanded.graph.nodes {
      let request = KernelRequest(
        node, in: expanded.graph, precision: segment.precision, threads: segment.threads,
        isDeterministic: segment.isDeterministic)
      let all = try self.offers(for: request)
      let asked = all.filter { $0.key == segment.implementations[node.name] }
      offers.append(asked.isEmpty ? all : asked)
    }
    return KernelSelection(expanded, offers)
  }

  /// Returns whether every node of the body is supported, with the node's own operands.
  package func support(for body: Graph, of node: Node, in graph: Graph, precision: Precision) -> Support {
    let placed = placed(body, of: node, in: graph)
    for inner in placed.nodes {
      if case .unsupported(let reason) = support(for: inner, in: placed, precision: precision) {
        return .unsupported(reason)
      }
    }
    return .supported
  }

  /// Returns a node's body applied to the node's operands.
  private func placed(_ body: Graph, of node: Node, in graph: Graph) -> Graph {
    var alone = graph
    alone.nodes = [node]
    return ExpandedGraph(alone) { one, _ in one.name == node.name ? body : nil }.graph
  }
}
