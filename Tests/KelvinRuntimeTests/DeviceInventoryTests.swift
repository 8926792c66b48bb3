import KelvinDevices
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// Only the drivers of devices that are asked for are opened, and each once.
@Suite final class DeviceInventoryTests: Sendable {
  private let opened = Mutex<[String]>([])

  private func family(_ name: String, of kinds: Set<DeviceInfo.Kind>, _ present: [DeviceInfo.Kind]) -> DeviceFamily {
    DeviceFamily(name, of: kinds) { [self] in
      opened.withLock { $0.append(name) }
      return present.enumerated().map { index, kind in
        let id = kind == .cpu ? name : "\(name):\(index)"
        return DeviceListing(
          NullDevice(
            info: DeviceInfo(
              id: id, name: id, kind: kind, driver: "", version: "", memory: 1 << 30, resource: id)))
      }
    }
  }

  private var inventory: DeviceInventory {
    DeviceInventory([
      family("cpu", of: [.cpu], [.cpu]),
      family("vulkan", of: [.discreteGPU, .integratedGPU, .software], [.discreteGPU, .software]),
      family("opencl", of: [.discreteGPU, .accelerator, .software], []),
      DeviceFamily("reference", of: [.reference]) { [DeviceListing(ReferenceDevice())] },
    ])
  }

  /// The families opened by what is done with an inventory.
  private func opening(_ use: (DeviceInventory) throws -> Void) rethrows -> [String] {
    opened.withLock { $0 = [] }
    try use(inventory)
    return opened.withLock { $0 }
  }

  @Test func unitsOpenOnlyTheirDevices() throws {
    #expect(try opening { _ = try UnitsSelection.cpuOnly.devices(in: $0) } == ["cpu"])
    #expect(try opening { _ = try UnitsSelection.devices(["cpu"]).devices(in: $0) } == ["cpu"])
    #expect(try opening { _ = try UnitsSelection.devices(["vulkan:1"]).devices(in: $0) } == ["vulkan"])
    #expect(try opening { _ = try UnitsSelection.cpuAndNeuralEngine.devices(in: $0) } == ["cpu", "opencl"])
    #expect(try opening { _ = try UnitsSelection.cpuAndGPU.devices(in: $0) } == ["cpu", "vulkan", "opencl"])
    #expect(try opening { _ = try UnitsSelection.all.devices(in: $0) } == ["cpu", "vulkan", "opencl"])
    #expect(opening { _ = $0.listings } == ["cpu", "vulkan", "opencl"])
    #expect(opening { _ = $0.devices(named: ["vulkan:0", "vulkan:7", "gone:0"]) } == ["vulkan"])
  }

  @Test func fallbacksPinsAndExclusionsOpenTheirDevices() throws {
    func opening(_ request: PlanRequest) throws -> [String] {
      try self.opening { _ = try Planner(inventory: $0, costs: CostSheet()).devices(for: request) }.sorted()
    }
    #expect(try opening(PlanRequest(units: .cpuOnly)) == ["cpu"])
    #expect(try opening(PlanRequest(units: .devices(["vulkan:0"]))) == ["cpu", "vulkan"])
    #expect(try opening(PlanRequest(units: .cpuOnly, pins: ["a": "vulkan:0"])) == ["cpu", "vulkan"])
    #expect(try opening(PlanRequest(units: .cpuOnly, exclusions: ["vulkan:0"])) == ["cpu", "vulkan"])
  }

  @Test func familyIsOpenedOnce() throws {
    let inventory = inventory
    let first = try inventory.device("vulkan:0")
    #expect(try inventory.device("vulkan:0") === first)
    #expect(inventory.openDevices.map(\.info.id) == ["vulkan:0", "vulkan:1"])
    #expect(inventory.devices.map(\.info.id) == ["cpu", "vulkan:0", "vulkan:1", "reference"])
    #expect(opened.withLock { $0.count { $0 == "vulkan" } } == 1)
  }

  @Test func unionListsEveryDeviceOnce() throws {
    let union = try UnitsSelection.union([.cpuOnly, .devices(["vulkan:1", "cpu"])], in: inventory)
    #expect(union == .devices(["cpu", "vulkan:1"]))
    #expect(try UnitsSelection.union([], in: inventory) == .all)
  }
}
