import KelvinBasics
import KelvinStreams
import KelvinThermal
import Synchronization

/// A governor with the heat that it reads between frames, for one stream or for streams that share a model.
final class GovernedRun: Sendable {
  /// The actions and measured effects after an answer.
  struct Events {
    var actions: [GovernorAction] = []
    var effects: [(action: GovernorAction, effect: StepEffect)] = []
  }

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
    var meter = StepMeter()
    var latest: ThermalReport?
  }

  private let state: Mutex<State>

  init(_ governor: Governor, _ heat: sending Heat) { state = Mutex(State(governor: governor, heat: heat)) }

  /// The present setting.
  var setting: GovernorSetting { state.withLock { $0.governor.setting } }
  var latestReport: ThermalReport? { state.withLock { $0.latest } }

  /// Takes an answer, and the reports that are due.
  ///
  /// - Parameters:
  ///   - arrival: the frame's arrival, in seconds on the stream's clock.
  ///   - start: the beginning of the prediction.
  ///   - end: its end.
  ///   - plan: the plan that ran.
  func answered(from arrival: Double, _ start: Double, to end: Double, plan: Int) -> Events {
    state.withLock { state in
      let (reports, pace, began) = state.reports(from: start, to: end, plan: plan)
      var events = Events()
      // The governor's clock is that of the reports, which simulated heat may make run faster.
      func onStream(_ action: GovernorAction) -> GovernorAction {
        var action = action
        action.at = began + action.at / pace
        return action
      }
      func take(_ action: GovernorAction?, _ state: inout State) {
        guard let action else { return }
        let shown = onStream(action)
        events.actions.append(shown)
        if let effect = state.meter.begin(shown) { events.effects.append(effect) }
      }
      state.meter.add(answerAt: end, latency: end - arrival)
      for report in reports {
        state.latest = report
        var shown = report
        shown.at = began + report.at / pace
        state.meter.add(shown)
        take(state.governor.update(report), &state)
      }
      let now = (end - began) * pace
      take(state.governor.update(answeredAt: now, latency: end - arrival, service: end - start), &state)
      if let effect = state.meter.due(at: end) { events.effects.append(effect) }
      return events
    }
  }
}

extension GovernedRun.State {
  /// Returns the reports that are due, the seconds of their clock in each second of the stream, and the stream's time
  /// at which their clock is 0.
  fileprivate mutating func reports(
    from start: Double, to end: Double, plan: Int
  ) -> (reports: [ThermalReport], pace: Double, began: Double) {
    switch heat {
    case .machine(var log):
      let report = log.sample(at: end)
      heat = .machine(log)
      return (report.map { [$0] } ?? [], 1, 0)
    case .simulated(var simulated, let watts, let began):
      simulated.add(seconds: end - start, watts: watts[plan])
      let reports = simulated.advance(to: end - began)
      heat = .simulated(simulated, watts: watts, began: began)
      return (reports, simulated.setup.speed, began)
    }
  }
}
