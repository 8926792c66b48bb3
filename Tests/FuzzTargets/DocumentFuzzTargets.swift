import FoundationEssentials
import KelvinBench
import KelvinMeasurements
import KelvinPlanning
import KelvinThermal

extension FuzzTarget {
  static let documents = [
    FuzzTarget("problem", PlanningError.self, .json, longest: 2048, seeds: Seeds.document("problem.json")) { bytes in
      _ = try PlanningProblem(json: Data(bytes)).explain()
    },
    FuzzTarget("plan", PlanningError.self, .json, longest: 2048, seeds: Seeds.document("plan.json")) { bytes in
      _ = try Plan(json: Data(bytes))
    },
    FuzzTarget("profile", MeasurementError.self, .json, longest: 3072, seeds: Seeds.document("profile.json")) { bytes in
      _ = try MeasuredProfile(json: Array(bytes), document: "profile.json").json()
    },
    // The result of a calibration is an envelope too.
    FuzzTarget(
      "envelope", MeasurementError.self, .json, longest: 4096, seeds: Seeds.files([".json"], in: "Profiles/thermal")
    ) { bytes in
      _ = try ThermalEnvelope(json: Array(bytes), document: "envelope.json").model()
    },
    FuzzTarget(
      "workload", BenchmarkError.self, .json, longest: 1024, seeds: Seeds.files([".json"], in: "Profiles/workloads")
    ) { bytes in
      _ = try Workload(json: Data(bytes), document: "workload.json")
    },
    FuzzTarget("journal", BenchmarkError.self, .json, longest: 4096, seeds: Seeds.journals) { bytes in
      _ = try BenchmarkJournal.read(Data(bytes))
    },
    // The document of an earlier run, which a later one is compared with.
    FuzzTarget("run", BenchmarkError.self, .json, longest: 1024, seeds: Seeds.document("run.json")) { bytes in
      guard let run = try? JSONDecoder().decode(EarlierRun.self, from: Data(bytes)) else { return }
      let now = run.configurations.map { (configuration: $0.units, figures: $0.figures) }
      _ = try RunComparison(now, against: run, named: "run.json", threshold: 0.05)
    },
  ]
}

extension Seeds {
  /// The first line of a journal with each of the others, and all of them.
  fileprivate static var journals: [[UInt8]] {
    guard let journal = document("journal.jsonl").first else { return [] }
    let lines = journal.split(separator: 0x0A).map { Array($0) + [0x0A] }
    return lines.dropFirst().map { lines[0] + $0 } + [journal]
  }
}
