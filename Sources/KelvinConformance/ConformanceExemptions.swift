extension ConformanceExemption {
  /// Everything that the devices of this package leave to others.
  package static let all: [ConformanceExemption] =
    ["cpu", "opencl"].map {
      ConformanceExemption(.named("chain of computed filters"), on: $0, "weights that are not constant")
    }
    + [
      "heads apart", "heads apart float16", "one query", "one element", "elements apart and heads shared",
    ].map {
      ConformanceExemption(.named("attention \($0)"), on: "vulkan", "operands that do not lie in vectors of 4")
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
  /// a CPU.
  private static let withoutGPUKernel = [
    "binary_integer", "convolution_integer", "matmul_integer", "non_maximum_suppression", "non_zero",
    "scatter_elements", "scatter_nd", "top_k", "unique",
  ]
}
