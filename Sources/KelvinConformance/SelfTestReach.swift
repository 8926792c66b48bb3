package import KelvinDevices
package import KelvinGraph

/// The kernels that the self-tests of a device run, against those that nodes take: one that no self-test runs may be left
/// undone by a driver that is believed.
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

  /// What a graph takes that none of the self-tests runs that it needs; nothing where the device does not run all of it.
  package func untested(_ graph: Graph, _ precision: Precision) throws -> Set<String> {
    let family = device.kernelFamily
    guard graph.nodes.allSatisfy({ family.support(for: $0, in: graph, precision: precision).isSupported }) else {
      return []
    }
    let segment = Segment(
      graph: graph, precision: precision, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
      blobs: NoBlobCache())
    let needed = SelfTest.all(for: graph, precision, family).compactMap { byTest[$0.name] }
    return needed.reduce(try kernels(segment)) { $0.subtracting($1) }
  }
}
