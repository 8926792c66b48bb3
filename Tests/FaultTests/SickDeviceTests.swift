import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinPlanning
import KelvinRuntime
import Testing

/// What becomes of predictions when a device stops working, and of its memory. Every test has the stand-ins to itself.
@Suite(.serialized) struct SickDeviceTests {
  /// A submission that never ends, by interface.
  private static let submission: [Interface: String] = [.vulkan: "vkQueueSubmit", .opencl: "clEnqueueNDRangeKernel"]

  @Test(arguments: Interface.allCases)
  func aHungDeviceIsLeftAndTheAnswerComesFromElsewhere(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let inputs = try (0..<3).map { try FaultyMachine.input($0) }
      let expected = try FaultyMachine.expected(inputs)
      let machine = FaultyMachine(interface)
      let predictor = try machine.load(floor: 0.5)
      #expect(distance(try predictor.answer(inputs[0]), expected[0]) < 1e-4)
      let function = try #require(SickDeviceTests.submission[interface])
      faulty_order(FaultyFault.hanging(function))
      #expect(distance(try predictor.answer(inputs[1]), expected[1]) < 1e-4)
      #expect(machine.device?.health.failure?.code == .hung)
      let submissions = faulty_calls(function)
      #expect(distance(try predictor.answer(inputs[2]), expected[2]) < 1e-4)
      #expect(faulty_calls(function) == submissions, "nothing more is submitted to it")
      let remark = try #require(predictor.loaded.outages.remarks.first)
      #expect(remark.hasPrefix("\(interface.device) is out") && remark.contains("did not finish within"), "\(remark)")
      let plan = try predictor.loaded.shown.proven().explanation.solution.placement
      #expect(!plan.values.contains(interface.device))
      // The device wakes and goes on with what it was given, on memory that is still there.
      leave()
    }
  }

  @Test(arguments: Interface.allCases)
  func strictModelsFailWithTheDevice(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let machine = FaultyMachine(interface)
      let predictor = try machine.load(isStrict: true)
      _ = try predictor.answer(input)
      let function = try #require(SickDeviceTests.submission[interface])
      faulty_order(FaultyFault.answering(function, code: interface.codes.lost))
      for _ in 0..<2 {
        #expect { _ = try predictor.answer(input) } throws: { error in
          let error = error as? ModelError
          return error?.code == .device && error?.fault == .device && "\(error!)".contains("without --strict")
        }
      }
    }
  }

  /// The wait fails while the queue works on: what it works on is neither destroyed nor freed, by anybody, ever.
  @Test(arguments: Interface.allCases, [UInt32(FaultyCardAsItIs.rawValue), FaultyCardDiscrete.rawValue])
  func aFailedWaitFreesNothing(interface: Interface, card: UInt32) async {
    await #expect(processExitsWith: .success) { [interface, card] in
      let inputs = try (0..<2).map { try FaultyMachine.input($0) }
      let expected = try FaultyMachine.expected(inputs)
      var order = FaultyOrder()
      order.card = FaultyCard(rawValue: card)
      do {
        let machine = FaultyMachine(interface, order)
        let predictor = try machine.load()
        _ = try predictor.answer(inputs[0])
        var wait = FaultyFault.answering(
          interface == .vulkan ? "vkWaitForFences" : "clGetEventInfo", code: interface.codes.memory)
        wait.card = order.card
        faulty_order(wait)
        #expect(distance(try predictor.answer(inputs[1]), expected[1]) < 1e-4)
        #expect(machine.device?.health.failure?.code == .lost)
      }
      for function in ["vkFreeMemory", "vkDestroyBuffer", "vkDestroyDevice", "vkDestroyInstance", "clReleaseMemObject"]
      {
        #expect(faulty_calls(function) == 0, "\(function)")
      }
      if interface == .opencl, card == FaultyCardAsItIs.rawValue { #expect(Graveyard.count > 0) }
      leave()
    }
  }

  @Test(arguments: Interface.allCases)
  func aDeviceWithoutMemoryIsLeftByTheModelAlone(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface)
      let predictor = try machine.load()
      var order = FaultyOrder()
      order.memory = 1
      faulty_order(order)
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      let failure = try #require(predictor.loaded.outages.failures.first)
      #expect(failure.code == .outOfMemory && failure.device == interface.device)
      #expect(machine.device?.health.mayFree == true)
      faulty_order(FaultyOrder())
      let another = try machine.load()
      #expect(distance(try another.answer(input), expected) < 1e-4)
      #expect(another.loaded.outages.failures.isEmpty)
    }
  }

  /// What is said names the failure and why nothing else answers.
  @Test func whereNothingElseMayRunTheModelTheFailureIsSaid() async {
    await #expect(processExitsWith: .success) {
      let input = try FaultyMachine.input(0)
      let machine = FaultyMachine(.vulkan)
      let predictor = try machine.load(excluding: ["cpu", "reference"])
      _ = try predictor.answer(input)
      faulty_order(FaultyFault.answering("vkQueueSubmit", code: Interface.vulkan.codes.lost))
      #expect { _ = try predictor.answer(input) } throws: { error in
        let text = "\(error)"
        return text.hasPrefix("vulkan:0: vkQueueSubmit: the device was lost; nothing else may run the model")
      }
    }
  }
}
