import ArgumentParser
import Glibc
import Kelvin
import KelvinBasics

/// Questions about machines that are not there.
struct WhatIfOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Plan as if a link were so, both ways: cpu:vulkan:0=64GB/s,5us. Repeatable.", valueName: "a:b=rate[,latency]"))
  var link: [String] = []

  /// Whether a profile holds the graph that `model` names, and no file does.
  func isInside(_ configuration: ModelConfiguration, _ model: String) throws -> Bool {
    guard let profile = configuration.profile, access(model.pathBytes, F_OK) != 0 else { return false }
    return try FunctionPlanDocument.canPlan(fromProfile: profile)
  }
}
