import CFaultyDrivers
import Glibc
import TestSupport
import Testing

/// The driver calls of a prediction once all objects exist. Every test uses the simulated drivers exclusively.
@Suite(.serialized) struct SteadyStateTests {
  /// The first predictions bind a session, and may bind it anew to the memory of their outputs.
  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func laterPredictionsCreateNoDriverObjects(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let machine = FaultyMachine(interface)
      try #require(machine.device != nil || interface.discover(patience: 1).isEmpty)
      guard machine.device != nil else { leave() }
      let predictor = try machine.load()
      let input = try FaultyMachine.input(0)
      for _ in 0..<3 { _ = try predictor.answer(input) }
      faulty_order(FaultyOrder())
      for _ in 0..<3 { _ = try predictor.answer(input) }
      #expect(Set(SteadyStateTests.called()).subtracting(SteadyStateTests.expected(interface)) == [])
      leave()
    }
  }

  /// A card whose memory the host cannot address.
  @Test func smallWeightsAreUploadedTogether() async {
    await #expect(processExitsWith: .success) {
      // Otherwise new memory is filled, by copies that would be counted.
      unsetenv("KELVIN_POISON_MEMORY")
      var order = FaultyOrder()
      order.card = FaultyCardDiscrete
      let machine = FaultyMachine(.vulkan, order)
      guard machine.device != nil else { leave() }
      let predictor = try machine.load()
      #expect(faulty_calls("vkCmdCopyBuffer") == 1)
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      leave()
    }
  }

  /// The functions called since the latest order.
  static func called() -> [String] {
    var names: [String] = []
    while let name = faulty_function(UInt32(names.count)) { names.append(String(cString: name)) }
    return names.filter { faulty_calls($0) > 0 }
  }

  static func expected(_ interface: Interface) -> Set<String> {
    switch interface {
    case .vulkan: ["vkResetFences", "vkQueueSubmit", "vkWaitForFences"]
    case .opencl:
      [
        "clEnqueueNDRangeKernel", "clFlush", "clSetEventCallback", "clGetEventInfo", "clWaitForEvents",
        "clReleaseEvent",
        "clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueMapBuffer", "clEnqueueUnmapMemObject",
      ]
    }
  }
}
