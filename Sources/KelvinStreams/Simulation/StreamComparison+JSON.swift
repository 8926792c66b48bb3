package import FoundationEssentials
package import KelvinBasics
import KelvinMeasurements
import KelvinThermal

extension StreamComparison {
  package func json() throws -> Data { try JSONText.encode(document, unspeakable: .null) }

  /// The document of a simulation that `--json` prints. Seconds, joules and watts; virtual time from the stream's
  /// beginning.
  package var document: JSONObject {
    [
      "envelope": simulation.envelope, "stream": simulation.stream, "physics": simulation.physics,
      "seed": simulation.seed, "plans": simulation.plans, "runs": runs.map(document),
      "governed": governed.map(document), "crossovers": crossovers.map(document), "sentences": sentences,
      "verdict": verdict.last ?? "",
    ]
  }

  private func label(_ plan: Int) -> String { simulation.plans[plan].label }

  private func document(_ run: StreamRun) -> JSONObject {
    [
      "label": run.label, "windows": run.windows.map(document),
      "actions": run.actions.map { action -> JSONObject in
        [
          "at": action.at, "what": action.what, "cause": action.cause, "plan": label(action.setting.plan),
          "rate": action.setting.rate, "queue": action.setting.queue,
        ]
      },
      "decay": run.fit, "served": run.served, "dropped": run.dropped, "skipped": run.skipped,
      "settledRate": run.settledRate, "joules": run.joules, "throttledAt": run.throttledAt,
    ]
  }

  private func document(_ window: StreamRun.Window) -> JSONObject {
    [
      "start": window.start, "end": window.end, "rate": window.rate, "p50": window.p50, "p90": window.p90,
      "served": window.served, "dropped": window.dropped, "skipped": window.skipped, "headroom": window.headroom,
      "state": window.state.name, "clock": window.clock, "watts": window.watts, "plan": label(window.plan),
    ]
  }

  private func document(_ crossover: Crossover) -> JSONObject {
    [
      "overtaken": label(crossover.overtaken), "overtaking": label(crossover.overtaking), "at": crossover.at,
      "minutes": crossover.minutes, "measure": crossover.measure.rawValue, "evenAt": crossover.evenAt,
    ]
  }
}
