import ArgumentParser
import KelvinMeasuring

/// The options for the simulated heat of another class of machine, with which a stream runs in real time.
struct SimulatedHeatOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Run the stream in real time, with the simulated heat of a machine of this class.", valueName: "envelope"))
  var simulateHeat: String?

  @Option(
    help: ArgumentHelp(
      "With --simulate-heat, the seconds of heat per second of the stream, 1 to 600.", valueName: "times"),
    transform: decimalNumber)
  var heatSpeed: Double?

  var heat: Benchmark.SimulatedHeat? { simulateHeat.map { .init(envelope: $0, speed: heatSpeed ?? 1) } }

  func validate() throws {
    guard simulateHeat != nil || heatSpeed == nil else { throw ValidationError("--heat-speed is for --simulate-heat") }
    guard heatSpeed.map({ (1...600).contains($0) }) ?? true else {
      throw ValidationError("--heat-speed \(heatSpeed ?? 0): expected 1 to 600")
    }
  }
}
