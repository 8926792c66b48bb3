import KelvinMeasurements
import Testing

struct TriedPlansTests {
  private func trial(_ mixed: [Double], _ single: [Double]) throws -> TriedPlans {
    try TriedPlans(
      graph: "g", precision: "automatic", threads: 2,
      entries: [
        ("best", ["a": "cpu", "b": "gpu:0"], 1, false), ("only cpu", ["a": "cpu", "b": "cpu"], 1, true),
      ], seconds: [mixed, single])
  }

  private let single = (0..<12).map { 0.010 + 0.0001 * Double($0 % 3) }

  @Test func mixedPlanFasterBeyondNoiseIsChosen() throws {
    #expect(try trial(single.map { $0 * 0.8 }, single).chosen == 0)
  }

  @Test func mixedPlanWithinNoiseLosesToASingleDevice() throws {
    let mixed = (0..<12).map { 0.0099 + 0.0004 * Double($0 % 2) }
    let trial = try trial(mixed, single)
    #expect(trial.chosen == 1)
    #expect(trial.reason.hasPrefix("'best' was not measured faster than 'only cpu' (10.1 ms): 1.00 ×, between 0.98"))
    #expect(trial.reason.hasSuffix("in 12 pairs, of 2 plans tried"))
  }

  @Test func profileKeepsTheLatestTrials() throws {
    var older = MeasuredProfile(kelvinVersion: "1", machine: machine)
    older.trials = [try trial(single.map { $0 * 0.8 }, single)]
    var newer = MeasuredProfile(kelvinVersion: "1", machine: machine)
    newer.trials = [try trial(single.map { $0 * 1.2 }, single)]
    let merged = try older.merging(newer)
    #expect(merged.trials == newer.trials)
    let found = merged.trial(graph: "g", precision: "automatic", threads: 2, among: ["cpu", "gpu:0", "gpu:1"])
    #expect(found?.chosen == 1)
    #expect(merged.trial(graph: "g", precision: "automatic", threads: 2, among: ["cpu"]) == nil)
    #expect(merged.trial(graph: "g", precision: "automatic", threads: 1, among: ["cpu", "gpu:0"]) == nil)
    #expect(merged.removing(devices: ["gpu:0"]).trials.isEmpty)
    let read = try MeasuredProfile(json: try merged.json(), document: "copy")
    #expect(read == merged)
  }

  @Test func disturbedTrialDoesNotReplaceAQuietOne() throws {
    func profile(_ trial: TriedPlans, isDisturbed: Bool) -> MeasuredProfile {
      var profile = MeasuredProfile(kelvinVersion: "1", machine: machine)
      profile.trials = [trial]
      profile.trials[0].isDisturbed = isDisturbed ? true : nil
      return profile
    }
    let quiet = profile(try trial(single.map { $0 * 0.8 }, single), isDisturbed: false)
    let disturbed = profile(try trial(single.map { $0 * 1.2 }, single), isDisturbed: true)
    #expect(try quiet.merging(disturbed).trials == quiet.trials)
    #expect(try disturbed.merging(quiet).trials == quiet.trials)
    var later = disturbed
    later.trials[0].entries[0].seconds *= 2
    #expect(try disturbed.merging(later).trials == later.trials)
    let read = try MeasuredProfile(json: try disturbed.json(), document: "copy")
    #expect(read.trials.first?.isDisturbed == true)
  }

  private let machine = MachineDescription(
    processor: "p", architecture: "x86_64", logicalCores: 2, memoryBytes: 0, kernel: "", isVirtualised: false)
}
