import KelvinRuntime

/// Which processing units a model may use.
///
/// Software drivers (llvmpipe, PoCL) are only used when they are named in `.devices`.
public enum ComputeUnits: Hashable, Sendable {
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
}
