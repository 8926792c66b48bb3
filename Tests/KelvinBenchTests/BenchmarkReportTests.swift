import FoundationEssentials
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal
import TestSupport
import Testing

/// The data that a comparison passes to the page and to the trace.
struct BenchmarkReportTests {
  private let clock = VirtualClock()

  private func stream() throws -> BenchmarkResult { try twoDeviceStream(clock).run() }

  private struct Document: Decodable {
    struct Event: Decodable {
      struct Arguments: Decodable { var name: String? }
      var ph: String
      var name: String
      var cat: String?
      var pid: Int
      var dur: Double?
      var args: Arguments?
    }
    var traceEvents: [Event]
  }

  @Test("the trace of a stream has one slice per answered frame, and the heat")
  func trace() throws {
    let result = try stream()
    let document = try JSONDecoder().decode(Document.self, from: Data(TraceExport.chromeJSON(result.trace)))
    let processes = Dictionary(
      uniqueKeysWithValues: document.traceEvents.filter { $0.name == "process_name" }.map { ($0.pid, $0.args?.name) })
    for configuration in result.configurations {
      let sustained = try #require(configuration.sustained)
      let process = "stream, \(configuration.label)"
      let frames = document.traceEvents.filter { $0.cat == "frame" && processes[$0.pid] == process }
      #expect(frames.count == sustained.served)
      let longest = try #require(sustained.points.map(\.latency).max())
      #expect(abs((frames.compactMap(\.dur).max() ?? 0) - longest * 1e6) < 0.002)
      let heat = document.traceEvents.filter { $0.ph == "C" && $0.name == "heat, \(configuration.label)" }
      #expect(heat.count == sustained.heat.count && !heat.isEmpty)
      #expect(document.traceEvents.contains { $0.ph == "i" && $0.name == "one inference, \(configuration.label)" })
    }
    #expect(document.traceEvents.contains { $0.ph == "i" && $0.name == "stream begins" })
  }

  @Test("the page has the graph's edges, the governor's actions and the disturbed intervals")
  func page() throws {
    var result = try stream()
    let action = """
      {"at": 2, "measure": {"rate": {"_0": 0.5}}, "setting": {"plan": 0, "rate": 0.5, "queue": 1}, "isReturn": false,
      "what": "rate × 0.5", "cause": "fair"}
      """
    result.configurations[1].sustained?.actions = [
      try JSONDecoder().decode(GovernorAction.self, from: Data(action.utf8))
    ]
    result.disturbedRounds[.sustained] = [1]
    let input = result.report()
    let nodes = input.placements[0].plan.nodes
    #expect(nodes.count == 3)
    #expect(nodes[0].inputs.allSatisfy { name in !nodes.contains { $0.name == name } } && nodes[0].inputs.count == 1)
    #expect(nodes[1].inputs == [nodes[0].name] && nodes[2].inputs == [nodes[1].name])
    let shown = try #require(input.series[1].actions.first)
    #expect(input.series[1].actions.count == 1 && shown == (2, "rate × 0.5", "fair"))
    for (series, configuration) in zip(input.series, result.configurations) {
      let frames = configuration.samples.filter { $0.phase == .sustained && $0.round == 1 }
      let stretch = try #require(series.disturbances.first)
      #expect(series.disturbances.count == 1)
      #expect(stretch.from == frames.first?.at && stretch.to >= frames.last?.at ?? .infinity && stretch.to < 3)
    }
    let cold = try #require(result.configurations[0].coldTotal)
    #expect(input.configurations[0].facts.contains(ReportFact("cold start", HumanReadable.seconds(cold))))
  }
}
