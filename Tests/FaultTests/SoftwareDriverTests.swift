import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import KelvinRuntime
import TestSupport
import Testing

/// Software drivers that are slow or that sleep, and devices that are lost once or twice. Every test uses the simulated
/// drivers exclusively.
@Suite(.serialized) struct SoftwareDriverTests {
  /// A call of each prediction, by interface.
  static let call: [Interface: String] = [.vulkan: "vkWaitForFences", .opencl: "clEnqueueNDRangeKernel"]

  /// The call takes more than its limit of 0.3 s, and uses the processor all the time. On a busy machine it takes longer.
  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func driverThatComputesForLongIsNotHung(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface, patience: 60)
      let predictor = try machine.load()
      _ = try predictor.answer(input)
      let device = try #require(machine.device)
      #expect(device.info.kind == .software)
      device.health.allowNoMore(than: 0.2, preparation: 60)
      let function = try #require(SoftwareDriverTests.call[interface])
      faulty_order(FaultyFault.computing(in: function, milliseconds: 400))
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      #expect(faulty_failures() == 1)
      #expect(device.health.failure == nil && predictor.loaded.fallback.remarks.isEmpty)
      leave()
    }
  }

  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func driverThatSleepsIsHungAfterItsLimit(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface, patience: 60)
      let predictor = try machine.load()
      _ = try predictor.answer(input)
      let function = try #require(SoftwareDriverTests.call[interface])
      let answer = try machine.answer(predictor, input, during: FaultyFault.stuck(in: function))
      #expect(distance(answer, expected) < 1e-4)
      #expect(machine.device?.health.failure?.code == .hung)
      leave()
    }
  }

  @Test(arguments: Tier.some(1, of: Interface.allCases), [false, true])
  func workOfALostSubmissionIsRepeatedOnAFreshDevice(interface: Interface, isStrict: Bool) async {
    await #expect(processExitsWith: .success) { [interface, isStrict] in
      let inputs = try (0..<2).map { try FaultyMachine.input($0) }
      let expected = try FaultyMachine.expected(inputs)
      let machine = FaultyMachine(interface, renews: true)
      let predictor = try machine.load(isStrict: isStrict)
      _ = try predictor.answer(inputs[0])
      let function = try #require(FailingDeviceTests.submission[interface])
      faulty_order(FaultyFault.answering(function, code: interface.codes.lost))
      for index in [1, 0] { #expect(distance(try predictor.answer(inputs[index]), expected[index]) < 1e-4) }
      #expect(machine.device?.health.failure?.code == .lost)
      let fresh = try #require(machine.inventory.devices(named: [interface.device]).first)
      #expect(fresh !== machine.device && fresh.health.mayFree)
      #expect(faulty_calls(function) > 1, "the fresh device has work")
      #expect(predictor.loaded.fallback.failures.isEmpty)
      let remark = try #require(predictor.loaded.fallback.remarks.first)
      #expect(remark.hasPrefix("\(interface.device) failed (") && remark.contains("opened again"), "\(remark)")
      leave()
    }
  }

  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func deviceThatIsLostTwiceIsOut(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let input = try FaultyMachine.input(0)
      let expected = try FaultyMachine.expected([input])[0]
      let machine = FaultyMachine(interface, renews: true)
      let predictor = try machine.load()
      _ = try predictor.answer(input)
      let function = try #require(FailingDeviceTests.submission[interface])
      faulty_order(FaultyFault.answering(function, forGood: true, code: interface.codes.lost))
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      let calls = faulty_calls(function)
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      #expect(faulty_calls(function) == calls, "nothing more is submitted to it")
      #expect(predictor.loaded.fallback.failures.map(\.device) == [interface.device])
      #expect(predictor.loaded.fallback.remarks.first?.hasPrefix("\(interface.device) is unavailable") == true)
      leave()
    }
  }
}
