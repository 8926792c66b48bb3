package import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinMeasurements
import KelvinStreams
import KelvinThermal

extension Advice {
  /// The document that `kelvin advise --json` prints. Times are in seconds, memory in bytes, energies in joules.
  ///
  /// - Parameter files: the paths of the written plan files, by question.
  package func json(plans files: [Question: String] = [:], journals: [String] = []) throws -> Data {
    let result = anyResult
    let advice: JSONObject = [
      "kelvinVersion": result?.kelvinVersion, "model": result?.model, "machine": result?.machine,
      "framesPerSecond": request.framesPerSecond, "horizon": request.horizon, "envelope": request.envelope.name,
      "budget": request.budget, "rows": rows.map(document),
      "picks": picks.map { document($0, plan: files[$0.question]) }, "crossovers": crossovers.map(document),
      "simulation": lasting.map { document($0.simulation) }, "omissions": evidence.omissions,
      "interruption": evidence.interruption, "journals": journals, "notes": notes,
    ]
    return try JSONText.encode(advice, unspeakable: .null)
  }

  private func document(_ row: Row) -> JSONObject {
    [
      "configuration": row.label, "same": row.candidate.equivalentLabels, "planOf": row.candidate.twin,
      "devices": row.candidate.devices,
      "threads": row.candidate.threads, "precision": row.candidate.precision.rawValue, "first": row.firstAnswer,
      "firstCold": row.coldAnswer, "warm": row.warm, "stream": row.stream.map(stream),
      "throughput": row.throughput.map { ["rate": $0.throughput, "inFlight": $0.pipeline?.inFlight] as JSONObject },
      "sustained": row.lasting.map(sustained), "memory": row.memory, "energy": energy(row),
      "agreement": row.agreement, "failure": row.failure,
    ]
  }

  private func stream(_ load: ConfigurationResult.Sustained) -> JSONObject {
    [
      "rate": load.throughput, "p50": load.latency.p50, "p99": load.latency.p99, "deadline": deadline,
      "served": load.served, "lost": load.dropped + load.skipped,
    ]
  }

  private func sustained(_ run: StreamRun) -> JSONObject {
    ["rate": run.settledRate, "throttledAt": run.throttledAt, "hottest": run.windows.map(\.state).max()?.name]
  }

  /// `joules` is absent when no sensor measured power, and when the interval of the energy includes 0; `joulesBelow` is
  /// then its upper end. `ratio` is the energy of one inference divided by the least of all configurations.
  private func energy(_ row: Row) -> JSONObject? {
    let measured = row.measuredEnergy
    guard row.joules != nil || measured != nil else { return nil }
    return [
      "joules": measured?.joules, "lower": measured?.interval?.lower, "upper": measured?.interval?.upper,
      "joulesBelow": measured?.below, "ratio": row.energyRatio, "isMeasured": measured != nil,
    ]
  }

  /// `secondBestRatio` is the second best configuration's value of the measure that decides the question, divided by
  /// the pick's.
  private func document(_ pick: Pick, plan: String?) -> JSONObject {
    [
      "question": pick.question.rawValue, "configuration": rows[pick.row].label,
      "isBeyondNoise": pick.isBeyondNoise, "equals": pick.equals.map { rows[$0].label },
      "secondBest": pick.next.map { rows[$0.row].label }, "secondBestRatio": pick.next?.ratio, "plan": plan,
      "sentence": sentence(pick),
    ]
  }

  private func document(_ crossover: Crossover) -> JSONObject {
    [
      "overtaken": rows[crossover.overtaken].label, "overtaking": rows[crossover.overtaking].label,
      "measure": crossover.measure.rawValue, "at": crossover.at, "headroom": crossover.headroom,
      "sentence": crossover.sentence,
    ]
  }

  /// The settings of the simulated stream that answers the sustained question. Energies on the measured machine were
  /// estimated by the envelope `machine`.
  private func document(_ simulation: StreamSimulation) -> JSONObject {
    [
      "envelope": simulation.envelope, "machine": evidence.machine, "stream": simulation.stream,
      "physics": simulation.physics, "plans": simulation.plans,
    ]
  }
}
