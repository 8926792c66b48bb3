public import FoundationEssentials
import KelvinBasics
package import KelvinDevices
import KelvinEngine
import KelvinRuntime

/// A device that models may run on.
public struct ComputeDevice: Hashable, Sendable, CustomStringConvertible {
  /// The kind of a device's processing unit.
  public enum Kind: String, Hashable, Sendable {
    /// The processor.
    case cpu
    /// A GPU.
    case gpu
    /// An accelerator other than a GPU.
    case neuralEngine
    /// A driver that computes on the CPU; used only if it is named.
    case software
    /// The slow reference implementation that other devices are checked against. It runs operations that no other
    /// device supports.
    case reference
  }

  /// The device's name on the command line and in plans, such as `cpu` or `vulkan:0`.
  public let identifier: String
  /// The vendor's name of the device.
  public let name: String
  /// The kind of processing unit.
  public let kind: Kind
  /// The name of the driver, or the instruction sets that the CPU's kernels use.
  public let driver: String
  /// The device's memory in bytes.
  public let memory: Int

  /// Starts to detect the CPU's capabilities on another thread, so that later queries return at once.
  package static func anticipate() {
    _ = WorkerThread { _ = deviceInventory.host.info }
  }

  /// Whether an opened device has failed and may still be executing, or a driver call is stuck.
  package static var isAnyOut: Bool {
    DriverThread.hasGivenUpAny || deviceInventory.openDevices.contains { !$0.health.mayFree }
  }

  package init(_ info: DeviceInfo) {
    identifier = info.id
    name = info.name
    driver = info.driver
    memory = info.memory
    kind =
      switch info.kind {
      case .cpu: .cpu
      case .integratedGPU, .discreteGPU: .gpu
      case .accelerator: .neuralEngine
      case .software: .software
      case .reference, .null: .reference
      }
  }

  /// The identifier.
  public var description: String { identifier }

  /// Returns every device of this machine, and the reasons why others are missing, as the JSON document of `kelvin
  /// devices --json`. Opens every available driver.
  ///
  /// - Throws: `ModelError` with code `generic` if encoding fails.
  public static func report() throws(ModelError) -> Data {
    try ModelError.wrapping { try JSONText.encode(DeviceReport().rows, unspeakable: .text) }
  }

  /// Every device of this machine, including software drivers.
  public static var allComputeDevices: [ComputeDevice] { deviceInventory.devices.map { ComputeDevice($0.info) } }
}
