import KelvinProfiling
import KelvinRuntime

extension BenchmarkRunner {
  /// The load that goes on, in slices of a few seconds, the configurations taking turns.
  func runSustained(_ contestants: [Contestant]) throws {
    let paced = workload.kind == .stream
    let frames = paced ? max(1, Int(min(1e6, workload.duration * workload.framesPerSecond))) : Int.max
    let slices = min(max(6, Int(min(workload.duration / 5, 1000))), 20, frames)
    let seconds = workload.duration / Double(slices)
    let begin = clock.now()
    var heat = HeatLog(ThermalMonitor(files: files, envelope: envelope, probe: ClockProbe(repeats: 2)), at: begin)
    var meter = EnergyMeter(files: files, envelope: envelope, cores: machine.logicalCores)
    disturbedSlices = []
    for round in 0..<slices {
      var isDisturbed = false
      for contestant in turns(contestants, round) {
        if contestants.count > 1 { try contestant.infer() }
        let offset = contestant.slices.reduce(0) { $0 + $1.elapsed }
        let sliceBegin = clock.now()
        meter.start()
        let look = { (now: Double) in
          guard let report = heat.sample(at: now) else { return }
          contestant.record(report, at: offset + now - sliceBegin)
          if let contention = report.contention, !contention.isFlat { isDisturbed = true }
          let share = (now - begin) / (self.workload.duration * Double(contestants.count))
          self.observe(
            .init(
              phase: "\(contestant.configuration.label): \(self.workload.kind.rawValue)",
              fraction: 0.4 + 0.55 * min(1, share), detail: report.state.name))
        }
        let infer = { () throws(RuntimeError) in try contestant.infer() }
        let slice =
          paced
          ? try FrameSlice.paced(
            seconds: seconds, rate: workload.framesPerSecond, queue: workload.queue, clock: clock, infer: infer,
            pause: look)
          : try FrameSlice.backToBack(seconds: seconds, clock: clock, infer: infer, pause: look)
        let energy = meter.stop(devices: contestant.devices)
        contestant.joules = energy.joules.flatMap { joules in contestant.joules.map { $0 + joules } }
        contestant.energySource = energy.source
        contestant.slices.append(slice)
      }
      disturbedSlices.append(isDisturbed)
    }
  }
}

extension Contestant {
  func record(_ report: ThermalReport, at time: Double) {
    heat.append(.init(at: time, state: report.state, headroom: report.headroom))
    thermalSource = report.sourceDescription
    windows += 1
    if let contention = report.contention, !contention.isFlat { disturbedWindows += 1 }
  }

  /// The slices put end to end.
  func sustained(isPaced: Bool) throws(ProfilingError) -> ConfigurationResult.Sustained? {
    guard !slices.isEmpty else { return nil }
    var points: [ReportSeries.Point] = []
    var completions: [Double] = []
    var services: [Double] = []
    var starts: [Double] = []
    var offset = 0.0
    for slice in slices {
      for frame in slice.frames {
        points.append(.init(at: offset + frame.start, latency: frame.latency))
        completions.append(offset + frame.end)
        services.append(frame.service)
        starts.append(offset + frame.start)
      }
      offset += slice.elapsed
    }
    let drift =
      isPaced
      ? ThroughputDrift.paced(completions: completions, start: 0, end: offset)
      : ThroughputDrift.backToBack(latencies: services)
    return .init(
      latency: try LatencyStatistics(points.map(\.latency)), throughput: offset > 0 ? Double(points.count) / offset : 0,
      drift: drift, served: points.count, dropped: slices.reduce(0) { $0 + $1.dropped },
      fit: try? DecayFit(times: starts, latencies: services), points: points, heat: heat,
      joulesPerInference: joules.map { $0 / Double(max(points.count, 1)) }, energySource: energySource)
  }
}
