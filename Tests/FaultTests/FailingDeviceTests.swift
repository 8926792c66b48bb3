import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// Predictions and memory when a device stops working. Every test uses the simulated drivers exclusively.
@Suite(.serialized) struct FailingDeviceTests {
  /// A submission that never ends, by interface.
  static let submission: [Interface: String] = [.vulkan: "vkQueueSubmit", .opencl: "clEnqueueNDRangeKernel"]

  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func hungDeviceIsReplaced(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let inputs = try (0..<3).map { try FaultyMachine.input($0) }
      let expected = try FaultyMachine.expected(inputs)
      let machine = FaultyMachine(interface, patience: 60)
      let predictor = try machine.load()
      #expect(distance(try predictor.answer(inputs[0]), expected[0]) < 1e-4)
      let function = try #require(FailingDeviceTests.submission[interface])
      let answer = try machine.answer(predictor, inputs[1], during: FaultyFault.hanging(function))
      #expect(distance(answer, expected[1]) < 1e-4)
      #expect(machine.device?.health.failure?.code == .hung)
      let submissions = faulty_calls(function)
      #expect(distance(try predictor.answer(inputs[2]), expected[2]) < 1e-4)
      #expect(faulty_calls(function) == submissions, "nothing more is submitted to it")
      let remark = try #require(predictor.loaded.fallback.remarks.first)
      #expect(remark.hasPrefix("\(interface.device) is unavailable") && remark.contains("within"), "\(remark)")
      let plan = try predictor.loaded.shown.proven().explanation.solution.placement
      #expect(!plan.values.contains(interface.device))
      // The device wakes and continues its work, on memory that still exists.
      leave()
    }
  }

  /// The driver keeps the calling thread, and all that the thread holds.
  @Test(
    .slow,
    arguments: [
      (Interface.vulkan, "vkQueueSubmit"), (.vulkan, "vkWaitForFences"), (.opencl, "clSetEventCallback"),
      (.opencl, "clFlush"),
    ])
  func stuckCallIsReplacedByAnotherDevice(interface: Interface, function: String) async {
    await #expect(processExitsWith: .success) { [interface, function] in
      let inputs = try (0..<2).map { try FaultyMachine.input($0) }
      let expected = try FaultyMachine.expected(inputs)
      let machine = FaultyMachine(interface, patience: 60)
      let predictor = try machine.load()
      _ = try predictor.answer(inputs[0])
      let answer = try machine.answer(predictor, inputs[1], during: FaultyFault.stuck(in: function))
      #expect(faulty_failures() > 0 && distance(answer, expected[1]) < 1e-4)
      #expect(machine.device?.health.failure?.code == .hung)
      #expect(predictor.loaded.fallback.remarks.first?.contains("a call of the driver did not return within") == true)
      let calls = faulty_calls(function)
      #expect(distance(try predictor.answer(inputs[0]), expected[0]) < 1e-4)
      #expect(faulty_calls(function) == calls)
      leave()
    }
  }

  /// Every prediction gets the error, not only the one that made the call.
  @Test(.slow, arguments: Interface.allCases)
  func predictionsBesideAStuckCallComplete(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface, patience: 0.2)
      let predictor = try machine.load()
      faulty_order(FaultyFault.stuck(in: try #require(FailingDeviceTests.submission[interface])))
      let threads = (0..<6).map { _ in
        WorkerThread {
          let off = (try? predictor.answer(input)).map { distance($0, expected) }
          #expect(off.map { $0 < 1e-4 } == true)
        }
      }
      for thread in threads { thread?.join() }
      leave()
    }
  }

  /// One kernel that does not compile does not disable the device. PoCL's are tried together first, then
  /// one by one.
  @Test(arguments: [(Interface.vulkan, "vkCreateComputePipelines", -13, 2), (.opencl, "clBuildProgram", -11, 1)])
  func kernelThatDoesNotCompileRunsElsewhere(interface: Interface, function: String, code: Int32, first: Int) async {
    await #expect(processExitsWith: .success) { [interface, function, code, first] in
      let count = UInt32(3 - first)
      var order = FaultyFault.answering(function, call: first, code: code)
      order.fault.count = count
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface, order)
      let predictor = try machine.load()
      #expect(faulty_failures() == count)
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      #expect(machine.device?.health.mayFree == true && predictor.loaded.fallback.failures.isEmpty)
      let remark = try #require(predictor.loaded.fallback.remarks.first)
      #expect(remark.hasPrefix("\(interface.device) does not compile '"), "\(remark)")
      let used = Set(try predictor.loaded.shown.proven().explanation.solution.placement.values)
      #expect(used.contains(interface.device) && used.contains("cpu"), "\(used)")
      let strict = FaultyMachine(interface, order)
      #expect(throws: (any Error).self) { _ = try strict.load(isStrict: true) }
      leave()
    }
  }

  /// Too large a prediction says nothing of smaller ones, nor of the time when others have given memory back.
  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func outOfMemoryForOneSizeDoesNotBlockOthers(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let function = try #require(FailingDeviceTests.submission[interface])
      let machine = FaultyMachine(interface)
      let predictor = try machine.load()
      /// Whether the device took part in the correct answer.
      func isAsked(side: Int) throws -> Bool {
        let input = try FaultyMachine.input(0, side: side)
        let expected = try FaultyMachine.expected([input])[0]
        let before = faulty_calls(function)
        #expect(distance(try predictor.answer(input), expected) < 1e-4)
        return faulty_calls(function) > before
      }
      var order = FaultyOrder()
      order.memory = 1
      faulty_order(order)
      #expect(try !isAsked(side: 40))
      faulty_order(FaultyOrder())
      #expect(try isAsked(side: 20) && isAsked(side: FaultyMachine.side))
      // More specializations than are kept: each allocates memory, and frees it.
      for side in [16, 24, 28] { #expect(try isAsked(side: side)) }
      #expect(try !isAsked(side: 40) && !isAsked(side: 48))
      machine.device?.health.freed(byteCount: 1 << 40)
      #expect(try isAsked(side: 40))
      leave()
    }
  }

  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func strictModelsFailWithTheDevice(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let machine = FaultyMachine(interface)
      let predictor = try machine.load(isStrict: true)
      _ = try predictor.answer(input)
      let function = try #require(FailingDeviceTests.submission[interface])
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
  @Test(.slow, arguments: Interface.allCases, [UInt32(FaultyCardAsItIs.rawValue), FaultyCardDiscrete.rawValue])
  func failedWaitFreesNoMemory(interface: Interface, card: UInt32) async {
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
      if interface == .opencl, card == FaultyCardAsItIs.rawValue { #expect(LeakedResources.count > 0) }
      leave()
    }
  }

  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func outOfMemoryDisablesTheDeviceForOneModel(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface)
      let predictor = try machine.load()
      var order = FaultyOrder()
      order.memory = 1
      faulty_order(order)
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      let failure = try #require(predictor.loaded.fallback.failures.first)
      #expect(failure.code == .outOfMemory && failure.device == interface.device)
      #expect(machine.device?.health.mayFree == true)
      faulty_order(FaultyOrder())
      let another = try machine.load()
      #expect(distance(try another.answer(input), expected) < 1e-4)
      #expect(another.loaded.fallback.failures.isEmpty)
    }
  }

  /// The message names the failure and the reason why no other device answers.
  @Test func failureIsReportedWhenNoFallbackRemains() async {
    await #expect(processExitsWith: .success) {
      let input = try FaultyMachine.input(0)
      let machine = FaultyMachine(.vulkan)
      let predictor = try machine.load(excluding: ["cpu", "reference"])
      _ = try predictor.answer(input)
      faulty_order(FaultyFault.answering("vkQueueSubmit", code: Interface.vulkan.codes.lost))
      #expect { _ = try predictor.answer(input) } throws: { error in
        let text = "\(error)"
        return text.hasPrefix("vulkan:0: vkQueueSubmit: the device was lost; no other device may run the model")
      }
    }
  }
}
