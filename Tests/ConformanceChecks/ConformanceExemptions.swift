internal import KelvinDevices

extension ConformanceExemption {
  /// All cases that the devices of this package do not run.
  package static let all: [ConformanceExemption] =
    ["cpu", "opencl"].map {
      ConformanceExemption(.named("chain of computed filters"), on: $0, "weights that are not constant")
    }
    + rowsWithoutVectors.map {
      ConformanceExemption(
        .named("attention \($0)"), on: "vulkan", of: .software, "operands that are not aligned to vectors of 4")
    }
    + overThreeAxes.map { ConformanceExemption(.named($0), on: "cpu", "windows of 3 axes") }
    + ["vulkan", "opencl"].flatMap { device in
      leftToHost.map { ConformanceExemption(.ofOperator($0), on: device, $1) }
    }

  private static let rowsWithoutVectors: [String] = [
    "heads apart", "heads apart float16", "one query", "one element", "elements apart and heads shared",
    "long rows, elements apart",
  ]

  private static let overThreeAxes: [String] =
    ["", " float16"].flatMap { type in
      ["convolution three axes", "convolution three axes grouped", "convolution three axes depthwise"].map { $0 + type }
        + ["convolution_transpose three axes\(type)"]
    }
    + ["uint8 int8", "uint8 uint8", "int8 int8", "int8 uint8"].map { "convolution_integer three axes \($0)" }
    + ["maximum over three axes", "average over three axes", "average over three axes with padding"].map {
      "pool \($0)"
    }
    + ["int8", "uint8"].map { "pool over three axes of \($0)" }

  /// Operators without a kernel on GPUs, with the reason.
  private static let leftToHost = [
    ("non_maximum_suppression", "the choice of each box depends on the boxes kept before it"),
    ("non_zero", "the output size depends on data"),
    ("random_key", "the host keeps the run counter"),
    ("recurrence", "each step depends on the previous one"),
    ("unique", "the output size depends on data"),
  ]
}
