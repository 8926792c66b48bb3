import CFaultyDrivers
import Glibc
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Faulty drivers: a kernel does nothing, and the driver reports success. Every test uses the simulated drivers
/// exclusively.
@Suite(.serialized) struct SelfTestTests {
  /// OpenCL has fewer cases, because its programs take long to build. The list has all implementations that the
  /// simulated devices offer, except for Winograd's: another kernel computes the NaN results of its skipped kernels
  /// from the taps.
  private static let implementations: Set<String?> = [nil, "blocks", "general", "unfolded"]
  private static let tests: [Interface: [String]] = [
    .vulkan: SelfTest.all.filter { implementations.contains($0.implementation) }.map(\.name),
    .opencl: ["convolution", "linear", "matmul", "softmax", "copies", "blocks", "binary"],
  ]

  /// Whether every kernel of each implementation is faulty in turn; otherwise one is.
  private static let isWhole = getenv("KELVIN_FAULTS").map { String(cString: $0) == "all" } ?? false

  /// The graph of a self-test's nodes, as far as the device runs them; nil where it runs none.
  private static func graph(_ name: String, on device: any Device) throws -> Graph? {
    let tests = SelfTest.all.filter { $0.name == name }
    let graph = try SelfTest.example(of: tests, on: device).nodes.graph
    return graph.nodes.isEmpty ? nil : graph
  }

  @Test(.slow, arguments: Interface.allCases)
  func selfTestDetectsAnyIdleKernel(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      for name in SelfTestTests.tests[interface] ?? [] {
        var number: UInt32 = 1
        repeat {
          var order = FaultyOrder()
          order.lie = number
          let machine = FaultyMachine(interface, order, isDoubted: true)
          let device = try #require(machine.device as? any KernelDevice)
          let trust = try #require(device.trust)
          guard let graph = try SelfTestTests.graph(name, on: device) else { break }
          trust.examine(graph, on: device, against: ReferenceDevice(), blobs: NoBlobCache())
          let faults = trust.faults.filter { $0.hasPrefix("self-test of ") && $0.contains(" failed: element ") }
          #expect(!faults.isEmpty, "\(name), kernel \(number) of \(faulty_kernels())")
          number += 1
        } while SelfTestTests.isWhole && number <= faulty_kernels()
      }
      leave()
    }
  }

  @Test(.slow, arguments: Interface.allCases)
  func nodesWithWrongKernelsRunElsewhere(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      var lies = 0
      // Every kernel gives wrong results in turn, in any order of creation. If one implementation of a node is wrong,
      // the device itself uses another.
      var (number, kernels): (UInt32, UInt32) = (0, 0)
      repeat {
        number += 1
        var order = FaultyOrder()
        order.lie = number
        let machine = FaultyMachine(interface, order, isDoubted: true)
        let predictor = try machine.load()
        #expect(distance(try predictor.answer(input), expected) < 1e-4)
        kernels = faulty_kernels()
        let whole = SelfTest.all.filter { $0.implementation == nil }.map { "self-test of \($0.name) failed" }
        let faults = (machine.device?.trust?.faults ?? []).filter { whole.contains(where: $0.hasPrefix) }
        guard !faults.isEmpty else { continue }
        lies += 1
        #expect(machine.device?.health.mayFree == true && predictor.loaded.fallback.failures.isEmpty)
        let explanation = try predictor.loaded.shown.proven().explanation
        // One whose copies or blocks are wrong computes nothing, and is no candidate.
        let candidates = explanation.nodes.flatMap(\.candidates).filter { $0.device == interface.device }
        #expect(
          candidates.isEmpty
            ? faults.contains { $0.hasPrefix("self-test of copies") || $0.hasPrefix("self-test of blocks") }
            : candidates.contains { $0.unsupported.map(faults.contains) ?? false }, "\(faults)")
        let remarks = try predictor.loaded.shown.remarks(on: explanation)
        #expect(remarks.contains { $0.contains("self-test of ") && $0.contains("not on \(interface.device)") })
        let strict = FaultyMachine(interface, order, isDoubted: true)
        #expect { _ = try strict.load(isStrict: true) } throws: { "\($0)".contains("self-test of ") }
      } while number < kernels
      #expect(lies > 2, "\(lies) of \(kernels)")
      leave()
    }
  }

  /// The result is stored in the user's cache, for a driver and its version.
  @Test func selfTestResultIsKeptPerDriverVersion() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let input = try FaultyMachine.input(0)
      var order = FaultyOrder()
      order.lie = 1
      func faults(_ order: FaultyOrder) throws -> [String] {
        let machine = FaultyMachine(.vulkan, order, isDoubted: true)
        _ = try machine.load(cacheDirectory: folder.path).answer(input)
        return machine.device?.trust?.faults ?? []
      }
      let found = try faults(order)
      #expect(!found.isEmpty)
      // The driver now works, but is not tested again.
      #expect(try faults(FaultyOrder()) == found)
      var newer = FaultyOrder()
      newer.newer = 1
      #expect(try faults(newer) == [])
      let made = faulty_kernels()
      #expect(try faults(newer) == [])
      #expect(faulty_kernels() < made, "what went well is kept too")
      leave()
    }
  }

  /// Failures that do not concern results, such as a lost device, do not fail a self-test.
  @Test(
    .slow,
    arguments: [
      ("vkQueueSubmit", Int32(-4), UInt32.max), ("vkAllocateMemory", -2, 1), ("vkCreateComputePipelines", -13, 1),
      ("vkCreateShaderModule", -1, 1), ("vkWaitForFences", -4, 1),
    ])
  func selfTestThatCannotRunBlamesNoKernel(function: String, code: Int32, count: UInt32) async {
    await #expect(processExitsWith: .success) { [function, code, count] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      var order = FaultyFault.answering(function, code: code)
      order.fault.count = count
      let machine = FaultyMachine(.vulkan, order, isDoubted: true)
      let predictor = try machine.load()
      #expect(faulty_failures() > 0)
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      #expect(machine.device?.trust?.faults == [])
      leave()
    }
  }

  /// Only the device's compiler knows this limit of the kernel.
  @Test func kernelWithTooLargeGroupsRunsElsewhere() async {
    await #expect(processExitsWith: .success) {
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      var order = FaultyOrder()
      (order.card, order.lie, order.group) = (FaultyCardDiscrete, 2, 8)
      let machine = FaultyMachine(.opencl, order)
      let predictor = try machine.load()
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      let remark = try #require(predictor.loaded.fallback.remarks.first)
      #expect(remark.contains("the device runs work groups of 8 of its items, 64 are needed"), "\(remark)")
      leave()
    }
  }
}
