import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct ProgramCacheTests {
  private let blobs = TestBlobs()

  /// Negates seven numbers on a device that has built nothing yet.
  private func negate() throws {
    let device = try #require(OpenCLDevice.discover().compactMap(\.device).first)
    var net = TestNetwork()
    let x = net.input([7])
    let graph = try net.finish(net.add(Unary(UnaryFunction(.negate)), x))
    let tensors = inputs(of: graph)
    let result = try device.run(graph, tensors, blobs: blobs).outputs[0].floats
    #expect(result == tensors[0].floats.map { -$0 })
  }

  @Test func buildsAProgramOnceForAllLaterProcesses() throws {
    try negate()
    #expect(blobs.stores == 1)
    #expect(blobs.keys.allSatisfy { $0.hasPrefix("opencl/unary-") })
    try negate()
    #expect(blobs.stores == 1)
  }

  @Test func buildsAProgramAgainWhenItsBinaryIsDamaged() throws {
    try negate()
    let damages: [(inout [UInt8]) -> Void] = [
      { $0[$0.count / 2] ^= 1 }, { $0.removeLast() }, { $0 = Array($0.prefix(20)) }, { $0 = [] }, { $0[8] ^= 1 },
    ]
    for (index, damage) in damages.enumerated() {
      blobs.change(damage)
      try negate()
      #expect(blobs.stores == index + 2)
    }
  }
}
