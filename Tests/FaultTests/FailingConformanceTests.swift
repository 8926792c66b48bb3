import ConformanceChecks
import CFaultyDrivers
import KelvinConformance
import KelvinDevices
import KelvinReference
import TestSupport
import Testing

/// Conformance cases on a device that is lost during one of them, or that is slow to report completion.
@Suite(.serialized) struct FailingConformanceTests {
  @Test(.slow, arguments: [(Interface.vulkan, "vkQueueSubmit"), (.opencl, "clEnqueueNDRangeKernel")])
  func casesOnALostDeviceAreCorrectOrOneError(interface: Interface, function: String) async {
    await #expect(processExitsWith: .success) { [interface, function] in
      let loss = FaultyFault.answering(function, call: 40, forGood: true, code: interface.codes.lost)
      let machine = FaultyMachine(interface, loss)
      let device = try #require(machine.device)
      var right = 0
      var errors = Set<DeviceError>()
      for testCase in ConformanceCase.all {
        do throws(DeviceError) {
          let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
          #expect(outcome.fault(of: testCase, on: device.info) == nil)
          right += 1
        } catch { errors.insert(error) }
      }
      #expect(right > 0 && errors.count == 1 && errors.first?.code == .lost, "\(errors)")
      #expect(faulty_calls(function) == 40, "nothing more is submitted to it")
      leave()
    }
  }

  /// Waits end without the fence, a few times.
  @Test(.slow) func slowFenceIsAwaited() async {
    await #expect(processExitsWith: .success) {
      let machine = FaultyMachine(.vulkan, patience: 60)
      let device = try #require(machine.device)
      for (index, testCase) in ConformanceCase.all.enumerated() where index % 12 == 0 {
        var order = FaultyFault.answering("vkWaitForFences", code: 2)
        order.fault.count = 5
        faulty_order(order)
        let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
        #expect(outcome.fault(of: testCase, on: device.info) == nil)
        if case .unsupported = outcome { continue }
        #expect(faulty_failures() == 5, "\(testCase.name)")
      }
      #expect(device.health.mayFree)
      leave()
    }
  }

  /// A fence that is never signalled disables the device, and every case reports it.
  @Test func fenceTimeoutGivesOneError() async {
    await #expect(processExitsWith: .success) {
      let machine = FaultyMachine(.vulkan, patience: 60)
      let device = try #require(machine.device)
      device.health.allowNoMore(than: 0.2)
      faulty_order(FaultyFault.answering("vkWaitForFences", forGood: true, code: 2))
      var errors = Set<DeviceError>()
      for testCase in ConformanceCase.all.prefix(50) {
        do throws(DeviceError) {
          _ = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
        } catch { errors.insert(error) }
      }
      #expect(errors.count == 1 && errors.first?.code == .hung, "\(errors)")
      leave()
    }
  }
}
