import KelvinBasics
import KelvinThermal

extension BenchmarkResult {
  /// Returns every sample as comma-separated values: a header line, then one line for each sample. Times are in
  /// seconds.
  ///
  /// `disturbed` is 1 when other processes took processor time in the sample's round; such a sample is ignored if
  /// enough other rounds remain. `at` is the time since the configuration's load began, and `thermal` the machine's
  /// state then.
  ///
  /// - Parameter isSafe: Whether labels that a spreadsheet would take as formulas begin with an apostrophe.
  package func csv(isSafe: Bool = false) -> String {
    var lines = ["configuration,phase,index,round,seconds,at,disturbed,thermal"]
    for configuration in configurations {
      var indices: [BenchmarkSample.Phase: Int] = [:]
      let label = DelimitedText.field(configuration.label, isSafe: isSafe)
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
