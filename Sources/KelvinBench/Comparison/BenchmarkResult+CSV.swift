import KelvinBasics
import KelvinThermal

extension BenchmarkResult {
  /// Every sample as a table for other programs: one line of names, then one for each sample. Seconds.
  ///
  /// `disturbed` says that others took processor time in the sample's round, so that it does not count where enough
  /// other rounds do; `at` is since the configuration's load began, and `thermal` the machine's state then.
  package func csv() -> String {
    var lines = ["configuration,phase,index,round,seconds,at,disturbed,thermal"]
    for configuration in configurations {
      var indices: [BenchmarkSample.Phase: Int] = [:]
      let label = DelimitedText.field(configuration.label)
      for sample in configuration.samples {
        let index = indices[sample.phase, default: 0]
        indices[sample.phase] = index + 1
        let isDisturbed = disturbedRounds[sample.phase]?.contains(sample.round) ?? false
        lines.append(
          "\(label),\(sample.phase.rawValue),\(index),\(sample.round),\(sample.seconds),"
            + "\(sample.at.map { "\($0)" } ?? ""),\(isDisturbed ? 1 : 0),\(sample.thermal?.name ?? "")")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
