import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct ProgramCacheTests {
  /// Negates seven numbers on a device that has built nothing yet.
  ///
  /// - Returns: the device.
  @discardableResult
  private static func negate(_ blobs: TestBlobs) throws -> any Device {
    let device = try #require(OpenCLDevice.discover().compactMap(\.device).first)
    var net = TestNetwork()
    let x = net.input([7])
    let graph = try net.finish(net.add(Unary(UnaryFunction(.negate)), x))
    let tensors = inputs(of: graph)
    let result = try device.run(graph, tensors, blobs: blobs).outputs[0].floats
    #expect(result == tensors[0].floats.map { -$0 })
    return device
  }

  @Test func buildsAProgramOnceForAllLaterProcesses() async {
    // How many devices there are besides decides what a program is called.
    await #expect(processExitsWith: .success) {
      let blobs = TestBlobs()
      try Self.negate(blobs)
      #expect(blobs.stores == 1)
      #expect(blobs.keys.allSatisfy { $0.hasPrefix("opencl/unary-") })
      try Self.negate(blobs)
      #expect(blobs.stores == 1)
    }
  }

  @Test func buildsAProgramAgainWhenItsBinaryIsDamaged() async {
    await #expect(processExitsWith: .success) {
      let blobs = TestBlobs()
      try Self.negate(blobs)
      let damages: [(inout [UInt8]) -> Void] = [
        { $0[$0.count / 2] ^= 1 }, { $0.removeLast() }, { $0 = Array($0.prefix(20)) }, { $0 = [] }, { $0[8] ^= 1 },
      ]
      for (index, damage) in damages.enumerated() {
        blobs.change(damage)
        try Self.negate(blobs)
        #expect(blobs.stores == index + 2)
      }
    }
  }

  /// PoCL ends the process where several queues run one program on grids of many widths.
  @Test(.enabled(if: present.contains { $0.info.driver.hasPrefix("Portable Computing Language") }, "PoCL is not there"))
  func programsOfTwoContextsThatLiveTogetherAreNotTheSameOnPoCL() async {
    await #expect(processExitsWith: .success) {
      let blobs = TestBlobs()
      var devices = [try Self.negate(blobs), try Self.negate(blobs)]
      #expect(blobs.stores == 2)
      devices.removeLast()
      devices.append(try Self.negate(blobs))
      #expect(blobs.stores == 2, "a number is used again once its context is gone")
      #expect(devices.count == 2)
    }
  }
}
