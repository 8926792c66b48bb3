package import FoundationEssentials
import KelvinBasics
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinStreams
import KelvinThermal

extension BenchmarkResult {
  /// The document that `kelvin bench --json` prints. Times are in seconds, memory in bytes, energies in joules.
  /// An energy whose interval includes 0 has `joulesBelow`, its upper end, instead of `joulesPerInference`.
  package func json() throws -> Data { try JSONText.encode(document, unspeakable: .null) }

  /// `winner` is `null` where no difference was measured. `--plan` accepts the document for its `plan`.
  private var document: JSONObject {
    [
      "machine": machine, "kelvinVersion": kelvinVersion, "model": model, "workload": workload,
      "simulatedHeat": simulatedHeat, "configurations": configurations.indices.map(configuration),
      "comparisons": questions.flatMap(\.documents), "verdict": verdict.text, "sentences": verdict.sentences,
      "winner": JSONNull(verdict.winner.map { configurations[$0].label }), "notes": notes, "earlier": earlier,
      "simulation": simulation?.document, "interruption": interruption, "partial": interruption != nil,
      "plan": bestPlan,
    ]
  }

  /// `first` is the time from the start of the process to the first answer, `firstInference` its last part.
  private func configuration(_ index: Int) -> JSONObject {
    let result = configurations[index]
    let sustained = result.sustained
    var document: JSONObject = [
      "units": result.label, "devices": result.devices, "threads": result.threads, "launch": result.launch,
      "load": result.load, "compile": result.compile, "compileUncached": result.compileUncached,
      "first": result.total, "firstInference": result.first, "total": result.total, "coldTotal": result.coldTotal,
      "coldStarts": result.coldStarts, "starts": result.starts, "p50": result.latency?.p50,
      "p90": result.latency?.p90, "p99": result.latency?.p99, "samples": result.latency?.count ?? 0,
      "throughput": result.throughput?.finite, "drift": (sustained?.drift ?? result.warmDrift)?.finite,
      "tokens": result.tokens, "contention": result.contention, "windows": result.windows,
      "disturbedWindows": result.disturbedWindows, "agreementRemark": result.agreementRemark.nonEmpty,
      "predicted": result.solution.predicted,
      "placement": Dictionary(
        result.plan.nodes.filter { $0.turns == nil }.map { ($0.device, 1) }, uniquingKeysWith: +),
      "weights": result.weights, "comparison": comparisons[index], "figures": result.figures,
      "failure": result.failure,
    ]
    document.add("warm", result.warm.map { Self.warm($0, result.earlyStopping) })
    document.add("dropped", sustained?.dropped ?? 0)
    document.add("thermal", result.heat)
    document.add("agreement", result.agreement.map(Self.agreement))
    document.add("trial", result.trial.map(Self.trial))
    if let sustained { add(sustained, of: index, to: &document) }
    return document
  }

  private func add(
    _ sustained: ConfigurationResult.Sustained, of index: Int, to document: inout JSONObject
  ) {
    let (energy, measured) = (relativeEnergy(of: index), sustained.measuredEnergy)
    document.add("served", sustained.served)
    document.add("skipped", sustained.skipped)
    document.add("pipeline", sustained.pipeline)
    document.add("actions", sustained.actions.nonEmpty)
    document.add("ladder", sustained.ladder)
    document.add("answers", sustained.answers.nonEmpty)
    document.add("reading", sustained.reading.map(Self.window))
    document.add("firstWindow", sustained.first.map(Self.window))
    document.add("lastWindow", sustained.last.map(Self.window))
    document.add("decay", sustained.fit.map(Self.decay))
    document.add(
      "energy",
      [
        "joulesPerInference": measured?.joules, "lower": measured?.interval?.lower,
        "upper": measured?.interval?.upper, "joulesBelow": measured?.below, "ratio": energy?.ratio,
        "relativeTo": energy?.reference,
        "isMeasured": sustained.isEnergyMeasured, "source": sustained.energySource,
      ] as JSONObject)
  }

  private static func warm(_ warm: LatencyStatistics, _ earlyStopping: EarlyStopping?) -> JSONObject {
    [
      "p50": warm.p50, "p90": warm.p90, "p99": warm.p99, "minimum": warm.minimum, "samples": warm.count,
      "interval": warm.medianInterval, "earlyStopping": earlyStopping,
    ]
  }

  private static func window(_ window: LatencyStatistics) -> JSONObject {
    ["p50": window.p50, "p90": window.p90, "p99": window.p99, "samples": window.count]
  }

  private static func decay(_ fit: DecayFit) -> JSONObject {
    [
      "finding": fit.finding.rawValue, "initial": fit.initial.finite, "settled": fit.settled.finite,
      "timeConstant": fit.timeConstant.finite, "stability": fit.stability.finite,
      "stabilityInterval": fit.stabilityInterval, "hasSettled": fit.hasSettled,
    ]
  }

  private static func agreement(_ agreement: ReportAgreement) -> JSONObject {
    [
      "top1": agreement.top1, "largestDifference": agreement.largestDifference.finite,
      "meanDifference": agreement.meanDifference.finite, "inputs": agreement.inputs,
    ]
  }

  private static func trial(_ trial: TriedPlans) -> JSONObject {
    [
      "chosen": trial.entries[trial.chosen].label, "reason": trial.reason,
      "plans": trial.entries.map { entry -> JSONObject in
        ["plan": entry.label, "predicted": entry.predicted, "p50": entry.seconds, "samples": entry.samples]
      },
    ]
  }
}

extension ConfigurationResult {
  fileprivate var heat: JSONObject {
    [
      "state": thermal?.name, "source": thermalSource,
      "samples": (sustained?.heat ?? []).map { point -> JSONObject in
        ["at": point.at, "state": point.state.name, "headroom": point.headroom.finite]
      },
    ]
  }
}

extension ComparedQuestion {
  /// The comparison of each configuration with the best one. `ratio` is its seconds divided by the best's, and
  /// `detectable` the relative difference that would be detected in 8 of 10 runs.
  fileprivate var documents: [JSONObject] {
    finding.comparisons.enumerated().compactMap { index, comparison in
      comparison.map { comparison in
        // As in the verdict, a difference below the smallest relevant one does not count.
        let isEqual = finding.tied.contains(index) && comparison.verdict != .notCompared
        return [
          "question": subject, "candidate": labels[index], "baseline": labels[finding.best],
          "ratio": comparison.ratio, "interval": comparison.interval, "pairs": comparison.pairs,
          "verdict": isEqual ? .noDifferenceMeasured : comparison.verdict,
          "detectable": comparison.detectable(smallest: Finding.smallestDifference),
        ]
      }
    }
  }
}
