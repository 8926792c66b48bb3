import ConformanceChecks
import Glibc
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import TestSupport
import Testing

private let hasPoCL = present.contains { $0.info.driver.hasPrefix("Portable Computing Language") }

@Suite(.enabled(if: !present.isEmpty, absence))
struct ProgramCacheTests {
  /// PoCL gives its programs to the cache only where it keeps none itself, which is so in the whole process from here on.
  private static func keepBinaries() { setenv("POCL_KERNEL_CACHE", "0", 1) }

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

  @Test func programIsBuiltOnceForAllProcesses() async {
    // How many devices there are besides decides what a program is called.
    await #expect(processExitsWith: .success) {
      Self.keepBinaries()
      let blobs = TestBlobs()
      try Self.negate(blobs)
      #expect(blobs.stores == 1)
      #expect(blobs.keys.allSatisfy { $0.hasPrefix("opencl/unary-") })
      try Self.negate(blobs)
      #expect(blobs.stores == 1)
    }
  }

  @Test(.slow) func damagedProgramBinaryIsRebuilt() async {
    await #expect(processExitsWith: .success) {
      Self.keepBinaries()
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

  /// Products of bytes on a card that has built nothing yet.
  private static func multiplyBytes(acceleratesDotProducts: Bool, _ blobs: TestBlobs) throws {
    let imitation = OpenCLDeviceOverrides(kind: .discreteGPU, acceleratesDotProducts: acceleratesDotProducts)
    let device = try #require(OpenCLDevice.discover(imitating: imitation).compactMap(\.device).first)
    for testCase in ConformanceCase.all.filter(\.isIntegerProduct).prefix(8) {
      _ = try device.run(testCase.graph, inputs(of: testCase.graph), blobs: blobs)
    }
  }

  @Test(.slow) func byteDotProductsAreSeparatePrograms() async {
    await #expect(processExitsWith: .success) {
      Self.keepBinaries()
      let (plain, dots) = (TestBlobs(), TestBlobs())
      try Self.multiplyBytes(acceleratesDotProducts: false, plain)
      try Self.multiplyBytes(acceleratesDotProducts: true, dots)
      #expect(plain.keys.contains { $0.hasPrefix("opencl/integer_product-") })
      #expect(!Set(dots.keys).subtracting(plain.keys).isEmpty)
    }
  }

  @Test(.slow, .enabled(if: hasPoCL, "PoCL is not there")) func driverCacheReplacesTheProgramCache() async {
    await #expect(processExitsWith: .success) {
      setenv("POCL_KERNEL_CACHE", "1", 1)
      let blobs = TestBlobs()
      try Self.negate(blobs)
      #expect(blobs.keys.isEmpty)
    }
  }

  /// A program that fails to compile together with others is built alone; the result does not show which happened.
  @Test(.slow, .enabled(if: hasPoCL, "PoCL is not there")) func segmentHasFewProgramsOnPoCL() async {
    await #expect(processExitsWith: .success) {
      setenv("POCL_KERNEL_CACHE", "1", 1)
      let device = try #require(OpenCLDevice.discover().compactMap(\.device).first as? OpenCLDevice)
      let example = try SelfTest.example(of: SelfTest.all, on: device)
      _ = try device.run(example.nodes.graph, inputs(of: example.nodes.graph), blobs: TestBlobs())
      // Eight share files with others, and casts have variants.
      #expect(try device.programCount() <= 12)
    }
  }

  /// PoCL ends the process where several queues run one program on grids of many widths.
  @Test(.slow, .enabled(if: hasPoCL, "PoCL is not there"))
  func liveContextsDoNotShareProgramsOnPoCL() async {
    await #expect(processExitsWith: .success) {
      Self.keepBinaries()
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
