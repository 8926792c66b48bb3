package import KelvinDevices
package import KelvinGraph
package import KelvinPlanning

extension PlanningProblem.Node {
  /// Adds the constants of a node as a device that can run it packs them.
  package mutating func addWeights(
    of node: Node, in graph: Graph, packedBy device: any Device, _ precision: Precision
  ) {
    let id = device.info.id
    guard !weights.isEmpty,
      let packed = device.packedByteCounts(of: node, in: graph, precision: precision)
    else { return }
    weights += packed.sorted { $0.key < $1.key }.map {
      PlanningProblem.Weight(weight: "\($0.key) on \(id)", bytes: $0.value, devices: [id])
    }
  }
}

extension [PlanningProblem.Node] {
  /// The factor by which packing may make weights larger: float16 becomes float32, nine taps become sixteen.
  private static var mostGrowth: Int { 4 }

  /// Whether the weights may exceed a device's memory once they are packed.
  ///
  /// - Parameter capacity: bytes; nil for no limit.
  func mayExceed(_ capacity: Int?) -> Bool {
    guard let capacity else { return false }
    let weights = reduce(into: [String: Int]()) { all, node in
      for weight in node.weights where weight.devices == nil { all[weight.weight] = weight.bytes }
    }
    return weights.values.reduce(0.0) { $0 + Double($1) } > Double(capacity / Self.mostGrowth)
  }

  /// Lets a device copy before each use the weights that only one node reads.
  ///
  /// - Parameters:
  ///   - link: the link from the host, at whose pace they are copied.
  ///   - iterations: how often each node runs in one inference.
  mutating func addStreams(to device: String, over link: PlanningProblem.Transfer, iterations: [Double]) {
    guard let pace = link.bytesPerSecond else { return }
    let readers = reduce(into: [String: Int]()) { readers, node in
      for weight in node.weights { readers[weight.weight, default: 0] += 1 }
    }
    for (index, iterations) in zip(indices, iterations) where self[index].seconds[device] != nil {
      let own = self[index].weights.filter { readers[$0.weight] == 1 && $0.devices?.contains(device) ?? true }
      let byteCount = own.reduce(0.0) { $0 + Double($1.bytes) }
      if byteCount > 0 { self[index].streamSeconds[device] = iterations * byteCount / pace }
    }
  }

  /// Leaves the weights that name no device to those of the devices that no weight names, and removes other devices.
  mutating func assignWeights(to devices: [String]) {
    let packing = reduce(into: Set<String>()) { named, node in
      for weight in node.weights { named.formUnion(weight.devices ?? []) }
    }
    guard !packing.isEmpty else { return }
    for index in indices {
      self[index].weights = self[index].weights.compactMap { weight in
        var weight = weight
        let keeping = devices.filter { weight.devices?.contains($0) ?? !packing.contains($0) }
        weight.devices = keeping
        return keeping.isEmpty ? nil : weight
      }
    }
  }
}
