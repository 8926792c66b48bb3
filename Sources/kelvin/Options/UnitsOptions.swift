import ArgumentParser
import KelvinRuntime

private let unitsHelp: ArgumentHelp = ArgumentHelp(
  """
  Which devices may run the model: all, cpu-only, cpu-and-gpu, cpu-and-neural-engine, or a list such as cpu,vulkan:0. \
  Software drivers are used only when they are named.
  """,
  valueName: "units")

/// The devices of a command that runs one configuration.
struct UnitsOption: ParsableArguments {
  @Option(help: unitsHelp, transform: UnitsSelection.init(argument:))
  var units: UnitsSelection = .all
}

/// The devices of a command that compares configurations.
struct UnitsListOption: ParsableArguments {
  @Option(name: .customLong("units"), help: unitsHelp, transform: UnitsSelection.init(argument:))
  var unitsList: [UnitsSelection] = []
}

extension UnitsSelection {
  init(argument: String) throws {
    guard let units = UnitsSelection(argument) else {
      throw ValidationError(
        "'\(argument)' names no devices; use all, cpu-only, cpu-and-gpu, cpu-and-neural-engine or a list such as "
          + "cpu,vulkan:0")
    }
    self = units
  }
}
