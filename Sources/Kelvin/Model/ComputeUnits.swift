import KelvinDevices
import KelvinEngine
package import KelvinRuntime

/// The processing units that a model may use.
///
/// Software drivers (llvmpipe, PoCL) are used only if `.devices` names them.
public enum ComputeUnits: Hashable, Sendable, LosslessStringConvertible {
  /// The CPU and every hardware device. The default.
  case all
  /// The CPU with its vector and matrix units.
  case cpuOnly
  /// The CPU and every GPU that has a Vulkan or OpenCL driver.
  case cpuAndGPU
  /// The CPU and OpenCL accelerator devices; no GPU.
  case cpuAndNeuralEngine
  /// Exactly these devices, by their names in `kelvin devices`, such as `["cpu", "vulkan:0"]`.
  case devices([String])

  package var selection: UnitsSelection {
    switch self {
    case .all: .all
    case .cpuOnly: .cpuOnly
    case .cpuAndGPU: .cpuAndGPU
    case .cpuAndNeuralEngine: .cpuAndNeuralEngine
    case .devices(let ids): .devices(ids)
    }
  }

  /// Creates units from their command-line syntax: `all`, `cpu-only`, `cpu-and-gpu`, `cpu-and-neural-engine`, or
  /// devices such as `cpu,vulkan:0`. Returns nil for an invalid string.
  public init?(_ description: String) {
    guard let selection = UnitsSelection(description) else { return nil }
    self =
      switch selection {
      case .all: .all
      case .cpuOnly: .cpuOnly
      case .cpuAndGPU: .cpuAndGPU
      case .cpuAndNeuralEngine: .cpuAndNeuralEngine
      case .devices(let ids): .devices(ids)
      }
  }

  /// The units in their command-line syntax.
  public var description: String { selection.description }

  /// The units to compare on this machine: the CPU, each hardware device, and all together.
  package static var comparable: [ComputeUnits] {
    let hardware = deviceInventory.hardware([.integratedGPU, .discreteGPU, .accelerator]).map(\.info.id)
    return [.cpuOnly] + hardware.map { .devices([$0]) } + (hardware.isEmpty ? [] : [.all])
  }
}
