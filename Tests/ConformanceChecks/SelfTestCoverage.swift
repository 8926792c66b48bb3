import KelvinConformance
package import KelvinDevices
package import KelvinGraph

/// Compares the kernels that self-tests run with the kernels that nodes use. A faulty driver could compute a kernel
/// wrongly if no self-test runs it. The same holds for an implementation that remains in use after the self-test has
/// failed.
package struct SelfTestCoverage {
  private let device: any KernelDevice
  private let kernels: (Segment) throws -> Set<String>
  private let byTest: [String: Set<String>]

  /// - Parameter kernels: returns the names of the kernels that a segment uses on the device.
  package init(_ device: any KernelDevice, kernels: @escaping (Segment) throws -> Set<String>) throws {
    (self.device, self.kernels) = (device, kernels)
    var byTest: [String: Set<String>] = [:]
    for test in SelfTest.all {
      byTest[test.name] = try kernels(try SelfTest.example(of: [test], on: device).nodes.segment(test.precision))
    }
    self.byTest = byTest
  }

  /// The kernels of all self-tests that the device supports.
  package var all: Set<String> { byTest.values.reduce([]) { $0.union($1) } }

  /// Returns the kernels of a graph that are not run by any self-test whose failure excludes them; empty if the
  /// device does not support the whole graph. For a graph of one node, each of its implementations is examined.
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
    let implementations =
      graph.nodes.count == 1 ? family.implementations(of: graph.nodes[0], in: graph, precision: precision) : []
    guard !implementations.isEmpty else { return try untested([:], by: tests) }
    return try implementations.reduce(into: []) { found, implementation in
      let missing = try untested(
        [graph.nodes[0].name: implementation],
        by: tests.filter { ($0.implementation ?? implementation) == implementation })
      found.formUnion(missing.map { "\($0) with the implementation '\(implementation)'" })
    }
  }
}
