import Glibc
import KelvinBasics
import KelvinMeasurements
import KelvinProfiler

extension BenchmarkRunner {
  /// Seconds that each configuration spends on either side of the comparison.
  private static let comparedSeconds = 0.5

  /// Compares the processor time of an inference with and without background load. The difference is counted in the
  /// model's energy: it results from shared caches and clocks.
  func compareWork(_ candidates: [BenchmarkCandidate], beside load: any BackgroundLoad) throws {
    guard !workload.otherLoad.isEmpty else { return }
    for candidate in candidates {
      try attempt(candidate) {
        var alone = (seconds: 0.0, count: 0)
        var beside = alone
        for _ in 0..<4 {
          load.pause()
          defer { load.resume() }
          try work(candidate, load, &alone)
          load.resume()
          try work(candidate, load, &beside)
        }
        guard alone.count > 0, beside.count > 0, alone.seconds > 0 else { return }
        let (first, second) = (alone.seconds / Double(alone.count), beside.seconds / Double(beside.count))
        journal.add(
          .note(
            "energy, \(candidate.configuration.label): the background load's processor time is not the model's;"
              + " the same inference took  \(HumanReadable.seconds(second)) of processor time with the load and"
              + " \(HumanReadable.seconds(first)) alone, \(HumanReadable.times(second / first)) as much, which an"
              + " estimate from processor time counts"))
      }
    }
  }

  private func work(
    _ candidate: BenchmarkCandidate, _ load: any BackgroundLoad, _ sum: inout (seconds: Double, count: Int)
  ) throws {
    try candidate.infer()
    let (end, before) = (clock.now() + Self.comparedSeconds / 4, ProcessorTime.ofProcess.seconds)
    let others = load.ownProcessorSeconds
    repeat {
      try candidate.infer()
      sum.count += 1
    } while clock.now() < end && sum.count < 100_000
    sum.seconds += ProcessorTime.ofProcess.seconds - before - (load.ownProcessorSeconds - others)
  }
}
