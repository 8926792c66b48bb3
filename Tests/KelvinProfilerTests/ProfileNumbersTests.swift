import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
import KelvinRuntime
import TestSupport
import Testing

/// The numbers of one profile in its text, its JSON document and its page.
@Suite struct ProfileNumbersTests {
  private let clock = VirtualClock()
  private let request = PlanRequest(units: .devices(["cpu", "gpu:0"]))

  /// Both devices are fast at some layers, so that the best plan mixes them. The timer of a layer takes 0.3 ms.
  private func measured() throws -> (context: ModelContext, result: ProfileResult) {
    let isOdd: @Sendable (Node) -> Bool = { ($0.name.last?.wholeNumberValue ?? 0) % 2 == 1 }
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock, timer: 3e-4) { isOdd($0) ? 5e-3 : 5e-4 },
        TimedDevice("gpu:0", kind: .integratedGPU, clock: clock, overhead: 2e-4, timer: 3e-4) {
          isOdd($0) ? 5e-4 : 7e-3
        },
      ])
    var options = ProfilerOptions()
    options.budget = 1
    let result = try NodeProfiler(
      context, request, inputs: chainInputs, options: options, kelvinVersion: "test", clock: clock, files: noFiles
    ).run()
    return (context, result)
  }

  /// The parts of the document that state the time of a plan.
  private struct Document: Decodable {
    struct Latency: Decodable {
      var p50: Double
    }
    struct Device: Decodable {
      var id: String
      var latency: Latency
      var timedLatency: Latency
      var account: Account
    }
    struct Check: Decodable {
      var plan: String
      var measured: Double
    }
    var devices: [Device]
    var checks: [Check]
    var trial: TriedPlans
  }

  /// The words of each row below a title, by the row's first word.
  private func rows(_ lines: [String], below title: String) throws -> [String: String] {
    let start = try #require(lines.firstIndex { $0.hasPrefix(title) })
    let rows = lines[(start + 1)...].prefix { !$0.isEmpty && !$0.hasPrefix("(") }
    return Dictionary(rows.map { (String($0.split(separator: " ")[0]), $0) }) { first, _ in first }
  }

  @Test func timeOfAPlanIsOneNumberInTextDocumentAndPage() throws {
    let (context, result) = try measured()
    let document = try JSONDecoder().decode(Document.self, from: try result.json())
    let lines = result.lines()
    let (latencies, checks) = (try rows(lines, below: "One inference"), try rows(lines, below: "Plan "))
    let planned = context.with(costs: CostSheet(result.profile))
    let explanation = try planned.explain(request)
    let trial = try #require(planned.trial(request))
    let page = HTMLReport.render(
      result.report(
        model: ReportModel(name: "chain", format: "ONNX", layers: 3, weightBytes: 0),
        placements: [
          ReportPlacement(
            units: "all", plan: try planned.plan(explanation, request), solution: explanation.solution,
            measured: trial.entry(explanation.solution.placement)?.seconds)
        ], generated: "now")
    ).replacing("\u{A0}", with: " ")
    // Without timers: 0.5 + 5 + 0.5 ms; 7 + 0.5 + 7 ms and a submission; three times 0.5 ms and a submission.
    let expected = ["cpu": 6e-3, "gpu:0": 14.7e-3, "best plan": 1.7e-3]
    #expect(document.checks.map(\.plan) == ["cpu", "gpu:0", "best plan"])
    for check in document.checks {
      let seconds = try #require(expected[check.plan])
      #expect(abs(check.measured - seconds) < 1e-9, "\(check)")
      let label = check.plan == "best plan" ? "best" : "only \(check.plan)"
      #expect(document.trial.entries.first { $0.label == label }?.seconds == check.measured)
      let text = HumanReadable.seconds(check.measured)
      #expect(checks[String(check.plan.split(separator: " ")[0])]?.contains(text) == true, "\(lines)")
      #expect(page.contains("<td>\(text)<br>"), "\(check.plan): \(text)")
    }
    for device in document.devices {
      let own = document.checks.first { $0.plan == device.id }?.measured
      #expect(own == device.latency.p50)
      #expect(latencies[device.id]?.contains(HumanReadable.seconds(device.latency.p50)) == true, "\(lines)")
      #expect(trial.entries.first { $0.label == "only \(device.id)" }?.seconds == device.latency.p50)
    }
    #expect(page.contains("cpu runs one inference in 6.00 ms"))
    #expect(page.contains("1.70 ms (prediction off by"))
  }

  @Test func breakdownIsOfARunWithTimersAndSaysSo() throws {
    let result = try measured().result
    let document = try JSONDecoder().decode(Document.self, from: try result.json())
    let accounts = try rows(result.lines(), below: "With layer timers")
    for device in document.devices {
      #expect(abs(device.account.endToEnd - device.latency.p50 - 9e-4) < 1e-9, "\(device)")
      #expect(device.account.endToEnd == device.timedLatency.p50)
      #expect(accounts[device.id]?.contains(HumanReadable.seconds(device.account.endToEnd)) == true)
      #expect(
        !(try rows(result.lines(), below: "One inference")[device.id]?
          .contains(HumanReadable.seconds(device.account.endToEnd)) ?? true))
    }
    #expect(result.lines().contains { $0.contains("with a timer at each layer") })
  }
}
