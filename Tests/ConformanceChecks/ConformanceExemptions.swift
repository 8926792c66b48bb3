internal import KelvinDevices

extension ConformanceExemption {
  /// All cases that the devices of this package do not run.
  package static let all: [ConformanceExemption] =
    ["chain of computed filters", "chain of computed filters in groups"].map {
      ConformanceExemption(.named($0), on: "opencl", "weights that are not constant")
    }
    + ["vulkan", "opencl"].map {
      ConformanceExemption(.named("linear computed weights"), on: $0, "weights that are not constant")
    }
    + rowsWithoutVectors.map {
      ConformanceExemption(
        .named("attention \($0)"), on: "vulkan", of: .software, "operands that are not aligned to vectors of 4")
    }
    + ["vulkan", "opencl"].flatMap { device in
      lengths.map {
        ConformanceExemption(
          .named("attention \($0)"), on: device, of: .software, "lengths for so many queries or elements")
      }
    }
    + ["vulkan", "opencl"].flatMap { device in
      leftToHost.map { ConformanceExemption(.ofOperator($0), on: device, $1) }
    }

  /// The same, and the cases that devices do not run where they store float32 as float16.
  package static let storingHalves: [ConformanceExemption] =
    all
    + ["vulkan", "opencl"].map {
      ConformanceExemption(.ofOperator("linear_integer"), on: $0, "integer sums that exceed float16")
    }

  private static let rowsWithoutVectors: [String] = [
    "heads apart", "heads apart float16", "one query", "one query, elements apart", "one element",
    "elements apart and heads shared", "long rows, elements apart", "heads of keys shared",
  ]

  /// Cases that need groups of invocations, which share nothing on software drivers.
  private static let lengths: [String] =
    [1, 5].flatMap { queries in
      [1, 17, 900].flatMap { keys in
        ["", " in a window"].flatMap { window in
          ["", " float16"].map { "by length, \(queries) of \(keys)\(window)\($0)" }
        }
      }
    } + ["by length, many keys", "by length, many keys float16"]

  /// Operators without a kernel on GPUs, with the reason.
  private static let leftToHost = [
    ("non_maximum_suppression", "the choice of each box depends on the boxes kept before it"),
    ("non_zero", "the output size depends on data"),
    ("random_key", "the host keeps the run counter"),
    ("recurrence", "each step depends on the previous one"),
    ("unique", "the output size depends on data"),
  ]
}
