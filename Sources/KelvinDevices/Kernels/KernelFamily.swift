package import KelvinGraph

/// The kernels of a device: for some nodes, and for the bodies of those that it has none for, so that fusing never costs
/// coverage. What the device supports, what it expands, in what precision it computes and which
/// kernels it compiles all follow from the one answer of `offers`.
package protocol KernelFamily: Sendable {
  associatedtype Kernel

  /// The ways in which the device computes this very node, its body aside: at least one, best first.
  ///
  /// - Throws: `.unsupported` where there is none.
  func offers(for request: KernelRequest) throws(DeviceError) -> [KernelOffer<Kernel>]

  /// The types of a node's inputs as its kernels see them, by which self-tests know their own.
  func storedInputs(of node: Node, in graph: Graph, precision: Precision) -> [TensorType]

  /// A graph on a node's operands that computes the same, for a node without offers: that of a fused node, unless the
  /// device knows a better one.
  func body(of node: Node, in graph: Graph) -> Graph?
}

extension KernelFamily {
  package func storedInputs(of node: Node, in graph: Graph, precision: Precision) -> [TensorType] {
    graph.types(node.inputs)
  }

  package func body(of node: Node, in graph: Graph) -> Graph? { node.body }

  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    do throws(DeviceError) {
      _ = try offers(for: KernelRequest(node, in: graph, precision: precision))
      return .supported
    } catch {
      guard let body = body(of: node, in: graph) else { return .unsupported(error.reason) }
      return support(for: body, of: node, in: graph, precision: precision)
    }
  }

  /// That of the best offer; where the body runs instead, the lowest among its nodes'.
  package func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision {
    do throws(DeviceError) {
      return try offers(for: KernelRequest(node, in: graph, precision: precision)).first?.precision ?? .full
    } catch {
      guard let body = body(of: node, in: graph) else { return .full }
      let expanded = placed(body, of: node, in: graph)
      let answers = expanded.nodes.map { effectivePrecision(precision, of: $0, in: expanded) }
      return answers.contains(.low) ? .low : answers.contains(.high) ? .high : .full
    }
  }

  /// The keys of the ways in which the device computes a node itself; none where its body runs instead.
  package func implementations(of node: Node, in graph: Graph, precision: Precision = .full) -> Set<String> {
    let offers = try? offers(for: KernelRequest(node, in: graph, precision: precision))
    return Set((offers ?? []).map(\.key))
  }

  /// The graph with a body in place of every node that has one and no kernel: what `compile` compiles.
  package func expanded(_ graph: Graph, precision: Precision = .full) -> ExpandedGraph {
    ExpandedGraph(graph) { node, graph in
      do throws(DeviceError) {
        _ = try offers(for: KernelRequest(node, in: graph, precision: precision))
        return nil
      } catch {
        return body(of: node, in: graph)
      }
    }
  }

  /// The kernels that compute a segment.
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

  /// Supported where every node of the body is, with the node's own operands.
  package func support(for body: Graph, of node: Node, in graph: Graph, precision: Precision) -> Support {
    let placed = placed(body, of: node, in: graph)
    for inner in placed.nodes {
      if case .unsupported(let reason) = support(for: inner, in: placed, precision: precision) {
        return .unsupported(reason)
      }
    }
    return .supported
  }

  /// A node's body on the node's own operands.
  private func placed(_ body: Graph, of node: Node, in graph: Graph) -> Graph {
    var alone = graph
    alone.nodes = [node]
    return ExpandedGraph(alone) { one, _ in one.name == node.name ? body : nil }.graph
  }
}
