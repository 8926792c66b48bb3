import KelvinBasics
import KelvinMeasurements
import KelvinStreams

extension BenchmarkResult {
  /// The lines that list each governor's ladder, from the preferred setting down, and how many frames each of its plans
  /// answered; empty without a governor.
  var ladderLines: [String] {
    guard workload.isGoverned else { return [] }
    return configurations.flatMap { configuration -> [String] in
      guard let sustained = configuration.sustained, let ladder = sustained.ladder else { return [] }
      let answers = sustained.answers.map {
        "\($0.label) \(counted($0.frames, "frame")), median \(HumanReadable.seconds($0.seconds))"
      }
      return ladder.descriptions.listed(
        under: "Settings of the governor of \(configuration.label), from the preferred one down")
        + "answered by \(answers.joined(separator: "; "))".wrapped(hangingIndent: 2)
    }
  }
}
