import KelvinDevices
import KelvinEngine
import KelvinRuntime

/// Which processing units a model may use.
///
/// Software drivers (llvmpipe, PoCL) are only used when they are named in `.devices`.
public enum ComputeUnits: Hashable, Sendable, LosslessStringConvertible {
  /// The CPU and every hardware device. The default.
  case all
  /// The CPU with its vector and matrix units.
  case cpuOnly
  /// The CPU and every GPU that Vulkan or OpenCL reaches.
  case cpuAndGPU
  /// The CPU and OpenCL accelerator devices; no GPU.
  case cpuAndNeuralEngine
  /// Exactly these devices, by the names that `kelvin devices` shows: `["cpu", "vulkan:0"]`.
  case devices([String])

  var selection: UnitsSelection {
    switch self {
    case .all: .all
    case .cpuOnly: .cpuOnly
    case .cpuAndGPU: .cpuAndGPU
    case .cpuAndNeuralEngine: .cpuAndNeuralEngine
    case .devices(let ids): .devices(ids)
    }
  }

  /// Units as the command line spells them: `all`, `cpu-only`, `cpu-and-gpu`, `cpu-and-neural-engine`, or devices as in
  /// `cpu,vulkan:0`; nil for a text that names nothing.
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

  /// As the command line spells them.
  public var description: String { selection.description }

  /// What is worth comparing on this machine: the CPU, each hardware device, and all together.
  package static var comparable: [ComputeUnits] {
    let hardware = deviceInventory.hardware([.integratedGPU, .discreteGPU, .accelerator]).map(\.info.id)
    return [.cpuOnly] + hardware.map { .devices([$0]) } + (hardware.isEmpty ? [] : [.all])
  }
}
