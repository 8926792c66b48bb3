public import FoundationEssentials
import KelvinBasics
package import KelvinDevices
import KelvinEngine
import KelvinRuntime

/// A device that models may run on.
public enum ComputeDevice: Hashable, Sendable, CustomStringConvertible {
  /// The processor.
  case cpu(Properties)
  /// A GPU.
  case gpu(Properties)
  /// An accelerator other than a GPU.
  case neuralEngine(Properties)
  /// A driver that computes on the CPU; used only if it is named.
  case software(Properties)
  /// The slow reference implementation that other devices are checked against. It runs operations that no other device
  /// supports.
  case reference(Properties)

  /// The properties that devices of all kinds have.
  public struct Properties: Hashable, Sendable {
    /// The device's name on the command line and in plans, such as `cpu` or `vulkan:0`.
    public let identifier: String
    /// The vendor's name of the device.
    public let name: String
    /// The name of the driver, or the instruction sets that the CPU's kernels use.
    public let driver: String
    /// The device's memory in bytes.
    public let memory: Int
  }

  /// The properties of the device, whatever its kind.
  public var properties: Properties {
    switch self {
    case .cpu(let properties), .gpu(let properties), .neuralEngine(let properties), .software(let properties),
      .reference(let properties):
      properties
    }
  }

  /// The device's name on the command line and in plans, such as `cpu` or `vulkan:0`.
  public var identifier: String { properties.identifier }
  /// The vendor's name of the device.
  public var name: String { properties.name }
  /// The name of the driver, or the instruction sets that the CPU's kernels use.
  public var driver: String { properties.driver }
  /// The device's memory in bytes.
  public var memory: Int { properties.memory }

  /// Starts to detect the CPU's capabilities on another thread, so that later queries return at once.
  package static func anticipate() {
    _ = WorkerThread { _ = deviceInventory.host.info }
  }

  /// Whether an opened device has failed and may still be executing, or a driver call is stuck.
  package static var isAnyOut: Bool {
    DriverThread.hasGivenUpAny || deviceInventory.openDevices.contains { !$0.health.mayFree }
  }

  package init(_ info: DeviceInfo) {
    let properties = Properties(identifier: info.id, name: info.name, driver: info.driver, memory: info.memory)
    self =
      switch info.kind {
      case .cpu: .cpu(properties)
      case .integratedGPU, .discreteGPU: .gpu(properties)
      case .accelerator: .neuralEngine(properties)
      case .software: .software(properties)
      case .reference, .null: .reference(properties)
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
