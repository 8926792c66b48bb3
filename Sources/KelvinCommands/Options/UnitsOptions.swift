import ArgumentParser
import Kelvin

private let unitsHelp: ArgumentHelp = ArgumentHelp(
  """
  The devices that may run the model: all, cpu-only, cpu-and-gpu, cpu-and-neural-engine, or a list such as \
  cpu,vulkan:0. Software drivers are used only when they are named.
  """,
  valueName: "units")

/// The compute units of a command that runs one configuration.
struct UnitsOption: ParsableArguments {
  @Option(help: unitsHelp, transform: ComputeUnits.init(argument:))
  var units: ComputeUnits = .all
}

/// The compute units of a command that compares configurations.
struct UnitsListOption: ParsableArguments {
  @Option(name: .customLong("units"), help: unitsHelp, transform: ComputeUnits.init(argument:))
  var unitsList: [ComputeUnits] = []
}

extension ComputeUnits {
  init(argument: String) throws {
    guard let units = ComputeUnits(argument) else {
      throw ValidationError(
        "'\(argument)' names no devices; use all, cpu-only, cpu-and-gpu, cpu-and-neural-engine or a list such as "
          + "cpu,vulkan:0")
    }
    self = units
  }
}
