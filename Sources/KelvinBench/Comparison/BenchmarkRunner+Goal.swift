import KelvinBasics
import KelvinDevices
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkRunner {
  /// Returns the plan for a stream. When heat would reach the limit within the stream, or before the envelope has
  /// settled, the plan of goal `sustained` is tried against the given plan.
  ///
  /// - Parameter measured: the seconds of a frame that a trial of the given plan measured, if there was one.
  /// - Returns: the plan to run with the reason in words; nil when the limit is not reached or no other plan is
  ///   possible.
  func planForHeat(
    _ explanation: PlanExplanation, _ request: PlanRequest, threads: Int, measured: Double?
  ) throws -> (explanation: PlanExplanation, request: PlanRequest, reason: String)? {
    let (heatEnvelope, outlook) = heatOutlook()
    let context = subject.context
    let cores = machine.logicalCores
    guard let quick = try context.streamVariants(explanation, precision: request.precision, threads: threads).first
    else { return nil }
    let seconds = measured ?? explanation.solution.predicted
    guard seconds > 0 else { return nil }
    let host = context.inventory.host.info.id
    let expected = StreamPlan(
      label: quick.label, secondsPerFrame: seconds,
      joulesPerFrame: quick.estimatedJoules(seconds: seconds, host: host, cores: cores, on: heatEnvelope))
    let limit = outlook.timeToLimit(
      dynamicWatts: expected.meanWatts(framesPerSecond: workload.framesPerSecond))
    guard limit <= max(workload.duration, heatEnvelope.settlingSeconds) else { return nil }
    var lastingRequest = request
    lastingRequest.goal = .sustained
    lastingRequest.power = .init(
      idleWatts: heatEnvelope.idleWatts, sustainableWatts: heatEnvelope.sustainableWatts)
    let lasting = try context.explain(lastingRequest, adopting: nil, in: scenario)
    guard lasting.solution.placement != explanation.solution.placement else {
      return (
        explanation, request,
        "the envelope \"\(heatEnvelope.name)\" is at its limit after \(HumanReadable.seconds(limit)) with this plan, and"
          + " the plan made to last is the same"
      )
    }
    var variant = quick
    (variant.label, variant.change, variant.solution) = ("made to last", .plan, lasting.solution)
    variant.shares = lasting.deviceShares(lasting.solution)
    let trial = try StreamTrial(
      [quick, variant], in: context, inputs: { _ in subject.inputs[0] }, framesPerSecond: workload.framesPerSecond,
      cores: cores,
      on: heatEnvelope, clock: clock,
      cancellation: options.cancellation,
      compile: { try context.compile($0.solution, precision: $0.precision, threads: $0.threads) })
    guard trial.entries.count == 2 else { return nil }
    let choice = SustainedChoice(
      quick: trial.entries[0].plan, lasting: trial.entries[1].plan, framesPerSecond: workload.framesPerSecond,
      secondsToLimit: limit, on: heatEnvelope)
    guard choice.takesLasting else { return (explanation, request, choice.reason) }
    return (lasting, lastingRequest, choice.reason)
  }

  /// Returns the envelope whose heat counts and its current outlook. A simulated envelope starts at rest.
  private func heatOutlook() -> (ThermalEnvelope, ThermalOutlook) {
    if let simulated = options.simulatedHeat { return (simulated.envelope, simulated.envelope.outlookAtRest) }
    var monitor = ThermalMonitor(files: files, envelope: envelope)
    return (envelope, monitor.sample(at: clock.now()).outlook ?? envelope.outlookAtRest)
  }
}

extension ThermalEnvelope {
  fileprivate var outlookAtRest: ThermalOutlook {
    ThermalOutlook(model: model(), idleWatts: idleWatts, sustainableWatts: sustainableWatts)
  }
}
