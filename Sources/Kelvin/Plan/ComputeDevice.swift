public import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinRuntime

/// A device that models may run on.
public struct ComputeDevice: Hashable, Sendable, CustomStringConvertible {
  /// What kind of processing unit a device is.
  public enum Kind: String, Hashable, Sendable {
    /// The processor.
    case cpu
    /// A graphics card.
    case gpu
    /// An accelerator that is not a graphics card.
    case neuralEngine
    /// A driver that computes on the CPU: used only when it is named.
    case software
    /// The slow definition that other devices are checked against; runs what nothing else can.
    case reference
  }

  /// The name on the command line and in plans: `cpu`, `vulkan:0`.
  public let identifier: String
  /// The maker's name for it.
  public let name: String
  /// What kind of processing unit it is.
  public let kind: Kind
  /// The driver that reaches it, or the instruction sets that the CPU's kernels use.
  public let driver: String
  /// Bytes of memory.
  public let memory: Int

  /// Begins to find out on another thread what this machine's processor can do: who asks later finds it told.
  package static func anticipate() {
    _ = WorkerThread { _ = deviceInventory.host.info }
  }

  /// Whether one of the devices that were asked for is out, and may still be at work, or a driver is stuck.
  package static var isAnyOut: Bool {
    DriverThread.hasGivenUpAny || deviceInventory.openDevices.contains { !$0.health.mayFree }
  }

  init(_ info: DeviceInfo) {
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

  /// Every device of this machine, and why others are absent, as one JSON document, as `kelvin devices --json` prints it.
  /// Opens every driver there is.
  ///
  /// - Throws: `ModelError` with code `generic` where it cannot be written out.
  public static func report() throws(ModelError) -> Data {
    try ModelError.wrapping { try JSONText.encode(DeviceReport().rows, unspeakable: .text) }
  }

  /// Every device of this machine, software drivers included.
  public static var allComputeDevices: [ComputeDevice] { deviceInventory.devices.map { ComputeDevice($0.info) } }
}
