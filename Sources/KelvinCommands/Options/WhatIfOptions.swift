import ArgumentParser
import Glibc
import Kelvin
import KelvinBasics
import KelvinMeasuring

/// The options for planning on hypothetical machines.
struct WhatIfOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Plan with an assumed link, in both directions: cpu:vulkan:0=64GB/s,5us. Repeatable.",
      valueName: "a:b=rate[,latency]"))
  var link: [String] = []

  /// Returns whether `model` is not a file and the profile contains a graph to plan.
  func isInside(_ configuration: ModelConfiguration, _ model: String) throws -> Bool {
    guard let profile = configuration.profile, access(model.pathBytes, F_OK) != 0 else { return false }
    return try FunctionPlanDocument.canPlan(fromProfile: profile)
  }
}
