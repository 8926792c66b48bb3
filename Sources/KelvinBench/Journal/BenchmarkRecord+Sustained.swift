import KelvinMeasurements
import KelvinReport
import KelvinStreams

extension BenchmarkRecord.Configuration {
  /// All samples, in order.
  var samples: [BenchmarkSample] {
    var samples = coldStarts.enumerated().map { BenchmarkSample(phase: .coldStart, round: $0, seconds: $1.total) }
    samples += starts.enumerated().map { .init(phase: .start, round: $0, seconds: $1.total) }
    for (round, burst) in warm.enumerated() {
      samples += burst.map { .init(phase: .warm, round: round, seconds: $0) }
    }
    var offset = 0.0
    var next = 0
    for (round, slice) in slices.enumerated() {
      for frame in slice.frames {
        let at = offset + frame.start
        while next + 1 < heat.count, heat[next + 1].at <= at { next += 1 }
        let state = heat.indices.contains(next) ? heat[next].state : nil
        samples.append(.init(phase: .sustained, round: round, seconds: frame.latency, at: at, thermal: state))
      }
      offset += slice.elapsed
    }
    return samples
  }

  /// The number of frames that each plan of the ladder answered; plans that answered none are left out.
  private var answers: [ConfigurationResult.PlanAnswers] {
    guard let ladder else { return [] }
    let services = Dictionary(grouping: slices.flatMap(\.frames)) { $0.plan ?? 0 }.mapValues { $0.map(\.service) }
    return ladder.labels.enumerated().compactMap { plan, label in
      guard let seconds = services[plan], let median = try? LatencyStatistics(seconds).median else { return nil }
      return .init(label: label, frames: seconds.count, seconds: median)
    }
  }

  /// Returns the statistics of all slices, concatenated; nil when nothing was answered.
  func sustained(_ kind: Workload.Kind) -> ConfigurationResult.Sustained? {
    let isPaced = kind == .stream
    var points: [ReportSeries.Point] = []
    var completions: [Double] = []
    var services: [Double] = []
    var starts: [Double] = []
    var offset = 0.0
    for slice in slices {
      for frame in slice.frames {
        points.append((offset + frame.arrival, frame.latency))
        completions.append(offset + frame.end)
        services.append(frame.service)
        starts.append(offset + frame.start)
      }
      offset += slice.elapsed
    }
    guard let latency = try? LatencyStatistics(points.map(\.latency)) else { return nil }
    let answered = slices.filter { !$0.frames.isEmpty }
    func statistics(_ slice: FrameSlice?) -> LatencyStatistics? {
      answered.count > 1 ? slice.flatMap { try? LatencyStatistics($0.frames.map(\.latency)) } : nil
    }
    let drift =
      isPaced
      ? ThroughputDrift.paced(completions: completions, start: 0, end: offset)
      : ThroughputDrift.backToBack(latencies: answered.map(\.secondsPerFrame))
    let perFrame = answered.map(\.secondsPerFrame)
    let rate =
      isPaced
      ? Double(points.count) / max(offset, 1e-9) : (try? LatencyStatistics(perFrame)).map { 1 / $0.mean }
    if kind == .tokens {
      // A token takes longer the more tokens precede it, so only whole sequences are comparable.
      starts = answered.reduce(into: []) { $0.append(($0.last ?? 0) + $1.elapsed) }
      services = perFrame
    }
    let order = starts.indices.sorted { starts[$0] < starts[$1] }
    return .init(
      latency: latency, first: statistics(answered.first), last: statistics(answered.last), throughput: rate ?? 0,
      drift: drift, reading: try? LatencyStatistics(slices.flatMap(\.frames).compactMap(\.reading)),
      served: points.count, dropped: slices.reduce(0) { $0 + $1.dropped },
      skipped: slices.reduce(0) { $0 + $1.skipped },
      fit: try? DecayFit(times: order.map { starts[$0] }, latencies: order.map { services[$0] }),
      points: points.sorted { $0.at < $1.at }, heat: heat,
      energy: InferenceEnergy(joules.map { $0 / Double(points.count) }, doubt: energyDoubt),
      energySource: energy.last?.source ?? "",
      isEnergyMeasured: energy.allSatisfy(\.isMeasured), pipeline: pipeline,
      actions: actions, ladder: ladder, answers: answers, duration: offset)
  }
}
