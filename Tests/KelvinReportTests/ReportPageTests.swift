import KelvinBasics
import KelvinPlanning
import KelvinReport
import KelvinThermal
import TestSupport
import Testing

/// The report in a browser: at desktop and phone width, light and dark, with and without JavaScript.
@Suite(
  "HTML report in Chromium", .serialized,
  .enabled(if: PageTool.hasChromium && PageTool.hasPython, "chromium or python3 is not installed"))
struct ReportPageTests {
  private func check(_ html: String) throws -> (status: Int32, output: String) {
    try PageTool.run("dev/page.py", "check", on: Array(html.utf8), suffix: ".html")
  }

  @Test("every chart is drawn, nothing is fetched or logged, layers are reached by keyboard and by link")
  func complete() throws {
    let input = try ReportFixture.input()
    let found = try check(HTMLReport.render(input))
    #expect(found.status == 0, "\(found.output)")
    let count = input.placements.reduce(0) { $0 + $1.plan.nodes.count }
    #expect(found.output.contains("\"nodes\": \(count), \"rows\": \(count)"), "\(found.output)")
    #expect(found.output.contains("\"series\": 2, \"headroom\": 1"), "\(found.output)")
  }

  @Test("graphs of any shape are drawn", .slow)
  func graphs() throws {
    var input = try ReportFixture.input()
    func node(_ index: Int, _ inputs: [Int]) -> Plan.Node {
      ReportFixture.node(
        "n\(index)", "convolution", inputs.isEmpty ? ["x"] : inputs.map { "n\($0)" },
        device: index.isMultiple(of: 3) ? "cpu" : "vulkan:0",
        [PlanCandidate(device: "cpu", seconds: 1e-4, source: .measured)])
    }
    func placement(_ name: String, _ nodes: [Plan.Node]) -> ReportPlacement {
      ReportPlacement(units: name, plan: ReportFixture.plan(nodes, predicted: 1e-2))
    }
    var chain = (0..<12).map { node($0, [$0 - 1]) }
    for index in chain.indices { chain[index].inputs = [] }
    var random = SeededGenerator(seed: 20)
    func earlier(_ index: Int) -> Int { min(Int(random.unit() * Double(index)), index - 1) }
    input.placements = [
      placement("chain", chain), placement("one", [node(0, [])]),
      placement("comb", (0..<60).map { $0 == 0 ? node(0, []) : node($0, [0, $0 - 1]) }),
      placement("grid", (0..<100).map { node($0, [$0 - 10, $0 % 10 == 0 ? -1 : $0 - 1].filter { $0 >= 0 }) }),
      placement(
        "long", (0..<700).map { $0 == 0 ? node(0, []) : node($0, Array(Set([$0 - 1, earlier($0)])).sorted()) }),
    ]
    let found = try check(HTMLReport.render(input))
    #expect(found.status == 0, "\(found.output)")
    #expect(found.output.contains("\"nodes\": 873"), "\(found.output)")
  }

  @Test("layers in branches and loops are drawn and listed by region, and reached as others are", .slow)
  func regions() throws {
    var input = try ReportFixture.input()
    input.placements = [ReportFixture.regions]
    let found = try check(HTMLReport.render(input))
    #expect(found.status == 0, "\(found.output)")
    #expect(found.output.contains("\"nodes\": 8, \"rows\": 8"), "\(found.output)")
  }

  @Test("repeated layers are folded, and every one can be reached", .slow)
  func blocks() throws {
    var input = try ReportFixture.input()
    input.placements = [ReportFixture.repeating]
    let found = try check(HTMLReport.render(input))
    #expect(found.status == 0, "\(found.output)")
    #expect(found.output.contains("\"nodes\": 50, \"rows\": 50"), "\(found.output)")
  }

  @Test("a short run is a dash, and constant heat is a level line", .slow)
  func shortRuns() throws {
    var input = try ReportFixture.input()
    input.series = [1, 2, 40].map { count in
      var series = ReportSeries(
        units: "\(count) frames", points: (0..<count).map { (Double($0) * 0.02, 0.004) }, heatSource: "a model")
      series.heat = (0..<(count + 1) / 2).map { .init(at: Double($0), state: .nominal, headroom: 0.25) }
      return series
    }
    let found = try check(HTMLReport.render(input))
    #expect(found.status == 0, "\(found.output)")
    #expect(found.output.contains("\"series\": 3, \"headroom\": 3"), "\(found.output)")
  }

  @Test("the check detects empty charts, failing scripts and overflow", .slow)
  func sensitivity() throws {
    let html = HTMLReport.render(try ReportFixture.input())
    for (what, with, complaint) in [
      ("class=\"chart lanes\" width=\"100%\"", "class=\"chart lanes\" width=\"0\"", "a chart has no size"),
      ("class=\"headroom\" points=\"", "class=\"headroom\" points=\"0,0\" data-were=\"", "a chart is empty"),
      ("'use strict';", "'use strict';missing();", "exception"),
      ("<main>", "<main style=\"min-width:3000px\">", "px wide"),
      ("<table class=\"cards\">", "<table class=\"cards\" style=\"width:1400px\">", "beside the paper"),
      ("<main>", "<main style=\"word-break:break-all\">", "a word is broken"),
    ] {
      let found = try check(html.replacing(what, with: with))
      #expect(found.status == 1 && found.output.contains(complaint), "\(complaint): \(found.output)")
    }
  }
}
