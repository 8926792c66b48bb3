package import KelvinDevices
package import KelvinGraph

/// The kernels that the self-tests of a device run, against those that nodes take: one that no self-test runs may be left
/// undone by a driver that is believed, and so may one that a node takes in a way which the self-test's failure leaves it.
package struct SelfTestReach {
  private let device: any KernelDevice
  private let kernels: (Segment) throws -> Set<String>
  private let byTest: [String: Set<String>]

  /// - Parameter kernels: the names of those that a segment takes on the device.
  package init(_ device: any KernelDevice, kernels: @escaping (Segment) throws -> Set<String>) throws {
    (self.device, self.kernels) = (device, kernels)
    var byTest: [String: Set<String>] = [:]
    for test in SelfTest.all {
      byTest[test.name] = try kernels(try SelfTest.example(of: [test], on: device).nodes.segment())
    }
    self.byTest = byTest
  }

  /// Those of all self-tests that the device has kernels for.
  package var all: Set<String> { byTest.values.reduce([]) { $0.union($1) } }

  /// What a graph takes that none of the self-tests runs whose failure keeps it from the device; nothing where the device
  /// does not run all of it. A graph of one node takes each of its ways in turn.
  package func untested(_ graph: Graph, _ precision: Precision) throws -> Set<String> {
    let family = device.kernelFamily
    guard graph.nodes.allSatisfy({ family.support(for: $0, in: graph, precision: precision).isSupported }) else {
      return []
    }
    let tests = SelfTest.all(for: graph, precision, family)
    func untested(_ implementations: [String: String], by tests: [SelfTest]) throws -> Set<String> {
      let segment = Segment(
        graph: graph, precision: precision, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
        blobs: NoBlobCache(), implementations: implementations)
      return tests.compactMap { byTest[$0.name] }.reduce(try kernels(segment)) { $0.subtracting($1) }
    }
    let implementations = graph.nodes.count == 1 ? family.implementations(of: graph.nodes[0], in: graph, precision: precision) : []
    guard !implementations.isEmpty else { return try untested([:], by: tests) }
    return try implementations.reduce(into: []) { found, implementation in
      let missing = try untested([graph.nodes[0].name: implementation], by: tests.filter { ($0.implementation ?? implementation) == implementation })
      found.formUnion(missing.map { "\($0) in the way '\(implementation)'" })
    }
  }
}
