import CFaultyDrivers
import KelvinDevices
import Testing

/// Devices whose memory is limited, or partly held by other processes.
@Suite(.serialized) struct DeviceMemoryTests {
  /// Vulkan's driver reports the memory in use; OpenCL's reports the size only.
  @Test(arguments: Interface.allCases) func freeMemoryIsWhatNobodyHolds(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      var order = FaultyOrder()
      (order.card, order.memory, order.taken) = (FaultyCardDiscrete, 64 << 20, 24 << 20)
      let device = try #require(FaultyMachine(interface, order).device)
      func isFree(_ count: Int) -> Bool {
        // OpenCL's buffers are rounded up to pages.
        (device.freeMemory ?? 0) - count < (interface == .vulkan ? 1 : 4096) && (device.freeMemory ?? 0) >= count
      }
      let before = Int(faulty_held_bytes())
      #expect(isFree(64 << 20 - (interface == .vulkan ? 24 << 20 : 0) - before))
      let buffer = try device.makeBuffer(byteCount: 8 << 20)
      let after = Int(faulty_held_bytes())
      #expect(after >= before + 8 << 20)
      #expect(isFree(64 << 20 - (interface == .vulkan ? 24 << 20 : 0) - after))
      #expect(throws: DeviceError.self) { _ = try device.makeBuffer(byteCount: 40 << 20) }
      withExtendedLifetime(buffer) {}
      leave()
    }
  }
}
