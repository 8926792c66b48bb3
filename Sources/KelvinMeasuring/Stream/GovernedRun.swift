import KelvinBasics
import KelvinStreams
import KelvinThermal
import Synchronization

/// A governor with the heat that it reads between frames, for one stream or for streams that share a model.
final class GovernedRun: StreamControl {
  /// The source of the reports.
  enum Heat {
    case machine(HeatLog)
    /// - Parameters:
    ///   - watts: by plan, the power above idle that the simulated machine draws while the plan works.
    ///   - began: the time at which the simulation begins.
    case simulated(SimulatedHeat, watts: [Double], began: Double)
  }

  fileprivate struct State {
    var governor: Governor
    var heat: Heat
    var meter: StepMeter
    var latest: ThermalReport?
    /// The streams that have not ended.
    var streams = 0
  }

  private let state: Mutex<State>
  let isGovernor = true
  let heatSpeed: Double?

  init(_ governor: Governor, _ heat: sending Heat) {
    heatSpeed = if case .simulated(let simulated, _, _) = heat { simulated.setup.speed } else { nil }
    state = Mutex(State(governor: governor, heat: heat, meter: StepMeter(speed: heatSpeed ?? 1)))
  }

  /// The present setting.
  var setting: GovernorSetting { state.withLock { $0.governor.setting } }
  var latestReport: ThermalReport? { state.withLock { $0.latest } }

  func begin() { state.withLock { $0.streams += 1 } }

  func answered(from arrival: Double, _ start: Double, to end: Double, plan: Int) -> StreamEvents {
    state.withLock { state in
      let reports = state.reports(from: start, to: end, plan: plan)
      let (now, latency) = (state.governorTime(end), end - arrival)
      var events = StreamEvents()
      func take(_ action: GovernorAction?, _ state: inout State) {
        guard let action else { return }
        events.actions.append(state.onStream(action))
        if let effect = state.meter.begin(action) { events.effects.append(state.onStream(effect)) }
      }
      state.meter.add(answerAt: now, latency: latency)
      for report in reports {
        state.latest = report
        state.meter.add(report)
        take(state.governor.update(report), &state)
      }
      take(state.governor.update(answeredAt: now, latency: latency, service: end - start), &state)
      if let effect = state.meter.due(at: now) { events.effects.append(state.onStream(effect)) }
      return events
    }
  }

  func end(at now: Double) -> StreamEvents {
    state.withLock { state in
      state.streams -= 1
      guard state.streams == 0, let effect = state.meter.finish(at: state.governorTime(now)) else {
        return StreamEvents()
      }
      return StreamEvents(effects: [state.onStream(effect)])
    }
  }
}

extension GovernedRun.State {
  /// The stream's time at which the governor's clock is 0, and the seconds of that clock in each second of the stream.
  /// It is the clock of the reports, which simulated heat may make run faster.
  private var clock: (began: Double, speed: Double) {
    switch heat {
    case .machine: (0, 1)
    case .simulated(let simulated, _, let began): (began, simulated.setup.speed)
    }
  }

  fileprivate func governorTime(_ time: Double) -> Double { (time - clock.began) * clock.speed }

  /// Returns an action with its time on the stream's clock.
  fileprivate func onStream(_ action: GovernorAction) -> GovernorAction {
    var action = action
    action.at = clock.began + action.at / clock.speed
    return action
  }

  fileprivate func onStream(
    _ effect: (action: GovernorAction, effect: StepEffect)
  ) -> (action: GovernorAction, effect: StepEffect) {
    (onStream(effect.action), effect.effect)
  }

  /// Returns the reports that are due.
  fileprivate mutating func reports(from start: Double, to end: Double, plan: Int) -> [ThermalReport] {
    switch heat {
    case .machine(var log):
      let report = log.sample(at: end)
      heat = .machine(log)
      return report.map { [$0] } ?? []
    case .simulated(var simulated, let watts, let began):
      simulated.add(seconds: end - start, watts: watts[plan])
      let reports = simulated.advance(to: end - began)
      heat = .simulated(simulated, watts: watts, began: began)
      return reports
    }
  }
}
