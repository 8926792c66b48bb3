import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// More than one card behind an interface, and interfaces that begin with an error.
@Suite(.serialized) struct SeveralCardsTests {
  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func otherCardTakesOverWhenOneIsLost(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let inputs = try (0..<2).map { try FaultyMachine.input($0) }
      let expected = try FaultyMachine.expected(inputs)
      var order = FaultyOrder()
      order.cards = 2
      let machine = FaultyMachine(interface, order)
      let cards = machine.inventory.devices.filter { $0.info.id.hasPrefix(interface.rawValue) }
      #expect(cards.map(\.info.id) == (0..<2).map { "\(interface.rawValue):\($0)" })
      let predictor = try machine.load(units: cards.map(\.info.id))
      #expect(distance(try predictor.answer(inputs[0]), expected[0]) < 1e-4)
      let used = try #require(Set(predictor.loaded.shown.proven().explanation.solution.placement.values).first)
      let function = interface == .vulkan ? "vkQueueSubmit" : "clEnqueueNDRangeKernel"
      faulty_order(FaultyFault.answering(function, code: interface.codes.lost))
      #expect(distance(try predictor.answer(inputs[1]), expected[1]) < 1e-4)
      #expect(cards.filter { !$0.health.mayFree }.map(\.info.id) == [used])
      let placed = Set(try predictor.loaded.shown.proven().explanation.solution.placement.values)
      #expect(placed == Set(cards.map(\.info.id)).subtracting([used]))
      leave()
    }
  }

  /// Each is one row with the reason, and models on the CPU still run.
  @Test(
    .slow,
    arguments: [
      (Interface.vulkan, "vkCreateInstance", Int32(-9), "no driver could be opened"),
      (.vulkan, "vkEnumeratePhysicalDevices", -3, "no driver found a device"), (.vulkan, "vkCreateDevice", -3, ""),
      (.opencl, "clGetPlatformIDs", -1001, "no OpenCL driver is installed"),
      (.opencl, "clGetDeviceIDs", -1, "no OpenCL device"), (.opencl, "clCreateContext", -6, "clCreateContext"),
    ])
  func interfaceStartErrorIsListedWithTheReason(
    interface: Interface, function: String, code: Int32, reason: String
  ) async {
    await #expect(processExitsWith: .success) { [interface, function, code, reason] in
      let order = FaultyFault.answering(function, forGood: true, code: code)
      let machine = FaultyMachine(interface, order)
      #expect(machine.device == nil)
      let row = try #require(machine.inventory.listings.first { $0.info.id == interface.device })
      #expect(row.reason.contains(reason) && !row.reason.isEmpty, "\(row.reason)")
      #expect { _ = try machine.load() } throws: { "\($0)".contains(row.reason) }
      leave()
    }
  }
}
