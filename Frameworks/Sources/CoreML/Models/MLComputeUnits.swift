/// The processing units that a model may use, with Core ML's raw values.
public enum MLComputeUnits: Int, Sendable {
  /// The CPU.
  case cpuOnly = 0
  /// The CPU and every GPU that has a Vulkan or OpenCL driver.
  case cpuAndGPU = 1
  /// The CPU and every hardware device.
  case all = 2
  /// The CPU and OpenCL accelerator devices.
  case cpuAndNeuralEngine = 3
}
