extension ConformanceExemption {
  /// Everything that the devices of this package leave to others.
  package static let all: [ConformanceExemption] =
    ["cpu", "opencl"].map {
      ConformanceExemption(.named("chain of computed filters"), on: $0, "weights that are not constant")
    }
    + ["vulkan", "opencl"].flatMap { device in
      withoutGPUKernel.map { ConformanceExemption(.ofOperator($0), on: device, "no kernel for \($0)") }
        + ["1-d", "2x2", "3x3 stride 2", "dilated"].flatMap { window in
          ["int8", "uint8"].map {
            ConformanceExemption(.named("pool \(window) of \($0)"), on: device, "\($0) values")
          }
        }
    }

  /// Their results depend on the order of the data, and the host is quick at them, or they are in integers for the sake of
  /// a CPU, or there is a body to run instead.
  private static let withoutGPUKernel = [
    "attention", "binary_integer", "convolution_integer", "matmul_integer", "non_maximum_suppression", "non_zero",
    "scatter_elements", "scatter_nd", "top_k", "unique",
  ]
}
