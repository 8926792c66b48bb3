import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinThermal
import TestSupport
import Testing

@Suite("HTML report")
struct ReportTests {
  /// The elements of a document, or what is wrong with their nesting.
  struct Elements {
    var counts: [String: Int] = [:]
    var problem: String?

    static let void: Set<String> = ["meta", "br", "wbr", "input", "!DOCTYPE"]
    /// Elements of the drawings that close themselves.
    static let drawing: Set<String> = ["rect", "line", "path", "polyline", "polygon", "circle"]

    init(_ html: String) {
      var open: [String] = []
      var rest = Substring(html)
      while let start = rest.firstIndex(of: "<") {
        guard let end = rest[start...].firstIndex(of: ">") else {
          problem = "a tag does not end: \(rest[start...].prefix(60))"
          return
        }
        let tag = rest[rest.index(after: start)..<end]
        rest = rest[rest.index(after: end)...]
        let name = String(tag.drop { $0 == "/" }.prefix { !$0.isWhitespace && $0 != "/" })
        guard tag.count(where: { $0 == "\"" }).isMultiple(of: 2), !name.isEmpty, !tag.contains("<") else {
          problem = "a broken tag: <\(tag)>"
          return
        }
        if tag.hasPrefix("/") {
          guard open.last == name else {
            problem = "</\(name)> closes <\(open.last ?? "nothing")> before: \(rest.prefix(60))"
            return
          }
          open.removeLast()
          continue
        }
        counts[name, default: 0] += 1
        if name == "script" || name == "style" {
          guard let close = rest.firstRange(of: "</\(name)>") else {
            problem = "<\(name)> does not end"
            return
          }
          rest = rest[close.upperBound...]
        } else if !Self.void.contains(name), !tag.hasSuffix("/") {
          open.append(name)
        } else if tag.hasSuffix("/"), !Self.drawing.contains(name) {
          problem = "<\(tag)> cannot close itself"
          return
        }
      }
      if !open.isEmpty { problem = "left open: \(open)" }
    }
  }

  /// Right-to-left names do not change the order of the text around them, in text, attributes and drawings.
  @Test func rightToLeftNamesAreIsolated() throws {
    let name = "\u{5E9}\u{5DC}\u{5D5}\u{5DD}"
    var input = try ReportFixture.input()
    input.title = "node \(name) 3 ms"
    input.model.name = "\(name)/\(name).onnx"
    for (index, device) in input.devices.enumerated() {
      input.devices[index] = ReportDevice(id: device.id, name: name, kind: name, driver: name)
    }
    let html = HTMLReport.render(input)
    #expect(html.contains("node &#x2067;\(name)&#x2069; 3\u{A0}ms"))
    // Between two isolates of words there is nothing of them.
    let outside = html.replacing("&#x2067;", with: "\u{2}").replacing("&#x2069;", with: "\u{3}")
      .split(separator: "\u{2}", omittingEmptySubsequences: false)
    #expect(outside.count > 6 && !(outside.first?.contains(name) ?? true))
    for part in outside.dropFirst() {
      let ends = part.split(separator: "\u{3}", omittingEmptySubsequences: false)
      #expect(ends.count == 2 && ends[0].contains(name) && !ends[ends.count - 1].contains(name))
    }
  }

  /// The page with its unbreakable spaces as plain ones.
  private func plain(_ input: ReportInput) -> String { HTMLReport.render(input).replacing("\u{A0}", with: " ") }

  @Test("the page is well formed, the verdict stands before every table, every chart is drawn")
  func complete() throws {
    let input = try ReportFixture.input()
    let html = plain(input)
    let elements = Elements(html)
    #expect(elements.problem == nil)
    #expect(elements.counts["table"] == 4)
    #expect(elements.counts["details"] == 2)
    let nodes = input.placements.flatMap(\.plan.nodes)
    #expect(elements.counts["a"] == nodes.count + 6)
    #expect(html.ranges(of: "class=\"node\"").count == nodes.count)
    // A heavy line for each link between devices, a label for each layer with transfers.
    let device = Dictionary(uniqueKeysWithValues: nodes.map { ($0.name, $0.device) })
    let crossing = nodes.reduce(0) { sum, node in
      sum + node.inputs.count { device[$0] != nil && device[$0] != node.device }
    }
    #expect(crossing == 8 && html.ranges(of: "class=\"move\"").count == crossing)
    #expect(html.ranges(of: "class=\"transfer\"").count == nodes.count { !$0.transfers.isEmpty })
    for node in nodes { #expect(html.contains("\(node.name) (\(node.op)) runs on \(node.device)"), "\(node.name)") }
    let refused = nodes.count { node in node.candidates.contains { $0.unsupported != nil } }
    #expect(refused > 5 && html.ranges(of: "opencl:0: cannot, dynamic output").count == refused)
    #expect(html.ranges(of: "class=\"fit\"").count == 1)
    #expect(html.ranges(of: "class=\"disturbed\"").count == 2)
    #expect(html.ranges(of: "class=\"action\"").count == 4)
    let verdict = try #require(html.firstRange(of: "Use cpu-only"))
    let table = try #require(html.firstRange(of: "<table"))
    #expect(verdict.lowerBound < table.lowerBound)
    let wanted = [
      "≈ ", "top-1 97.2 % of 36", "no decay detected", "slows down", "312 dropped", "off by −3.8 %", "412 mJ",
      "9.70 ms to 9.90 ms", "layers 9.40 ms + copies 0 s + waits 0 s + residual 400 µs (4.1 %)", "rate × 0.5", "−5.0 %",
    ]
    for text in wanted {
      #expect(html.contains(text), "\(text)")
    }
  }

  @Test("nothing is fetched: no address outside the page occurs in it")
  func selfContained() throws {
    let html = HTMLReport.render(try ReportFixture.input())
    for word in ["http:", "https:", "//", "src=", "@import", "url(h"] {
      #expect(!html.contains(word), "\(word)")
    }
    #expect(html.ranges(of: "href=").count == html.ranges(of: "href=\"#").count)
    #expect(html.contains("default-src 'none'"))
  }

  @Test("strings from models, drivers and sensors are escaped")
  func escaping() throws {
    let evil = "</script><script>alert('x')</script>\"'& <img src=x onerror=y>\u{0}\u{9F}"
    var input = try ReportFixture.input()
    input.title = evil
    input.verdict = evil
    input.findings = [evil]
    input.generated = evil
    input.kelvinVersion = evil
    input.workload = evil
    input.notes = [evil]
    input.machine.processor = evil
    input.machine.kernel = evil
    input.model.name = evil
    input.model.format = evil
    input.devices = [ReportDevice(id: evil, name: evil, kind: evil, driver: evil)]
    input.configurations[0].units = evil
    input.configurations[0].comparison = evil
    input.configurations[0].thermalSource = evil
    input.placements[0].units = evil
    input.placements[0].plan.bestSingleDevice?.device = evil
    input.placements[0].plan.nodes = [
      ReportFixture.node(
        evil, evil, device: evil, reason: evil,
        [
          PlanCandidate(device: evil, seconds: 1, source: .estimated),
          PlanCandidate(device: "cpu", unsupported: evil),
        ], [PlannedTransfer(value: evil, from: evil, to: evil, bytes: 1, seconds: 1)])
    ]
    input.timelines[0].units = evil
    input.timelines[0].events = [
      TraceEvent(name: evil, kind: .node, device: evil, queue: evil, start: 0, duration: 1)
    ]
    input.series[0].units = evil
    input.series[0].heatSource = evil
    let html = HTMLReport.render(input)
    let elements = Elements(html)
    #expect(elements.problem == nil)
    #expect(elements.counts["script"] == 1)
    #expect(elements.counts["img"] == nil)
    #expect(!html.contains("<script>alert"))
    #expect(html.contains("&lt;/script&gt;&lt;script&gt;alert(&#39;x&#39;)"))
    #expect(!html.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" })
  }

  @Test("regions have headings with their run counts, and starts are not copies")
  func regions() throws {
    var input = try ReportFixture.input()
    input.placements = [ReportFixture.regions]
    let html = plain(input)
    #expect(Elements(html).problem == nil)
    for text in [
      "loop/body: 50 × in each inference, costs of all together",
      "loop/body/branch/then: 12.5 × in each inference, costs of all together", "loop#trip starts vulkan:0",
      "<dt>transfers</dt><dd>none</dd>", "A dashed box: inside a branch or loop",
    ] {
      #expect(html.contains(text), "\(text)")
    }
    #expect(html.ranges(of: "<tr class=\"region\">").count == 4)
    #expect(html.ranges(of: "<a class=\"node inside\"").count == 5)
    input.placements = [ReportFixture.single]
    #expect(!HTMLReport.render(input).contains("A dashed box"))
  }

  @Test("repeated layers are shown once with their total cost")
  func blocks() throws {
    var input = try ReportFixture.input()
    input.placements = [ReportFixture.repeating]
    let html = plain(input)
    #expect(Elements(html).problem == nil)
    let heading = "12 × these 4 layers: 54.0 ms in all, 4.00 ms to 5.00 ms each time"
    #expect(html.ranges(of: "<p>\(heading)</p>").count == 1)
    #expect(html.ranges(of: "\(heading); the first time:").count == 1)
    #expect(html.ranges(of: "<details class=\"rest\"><summary>the other 11 times</summary>").count == 1)
    // Every layer has its box and its row; the chart has a column for each that is in sight.
    #expect(html.ranges(of: "class=\"node\"").count == 50 && html.ranges(of: "<tr id=\"r0-").count == 50)
    #expect(html.ranges(of: "<tbody class=\"inside more\">").count == 11)
    #expect(html.ranges(of: "class=\"hit\"").count == 6)
    input.placements[0].blocks = []
    let unfolded = plain(input)
    #expect(!unfolded.contains("each time") && unfolded.ranges(of: "class=\"hit\"").count == 50)
  }

  @Test("a number stays on one line with its unit")
  func units() throws {
    var input = try ReportFixture.input()
    input.verdict = "12.3 ms, then 4 layers at ≈ 5 µs; 97.2 % of 36 (3.00 s) at 30.0 /s"
    let glued = "12.3\u{A0}ms, then 4 layers at ≈\u{A0}5\u{A0}µs; 97.2\u{A0}% of 36 (3.00\u{A0}s) at 30.0\u{A0}/s"
    #expect(HTMLReport.render(input).contains("<p>\(glued)</p>"))
  }

  @Test("non-finite numbers and empty sections give a well-formed page")
  func degenerate() throws {
    var input = try ReportFixture.input()
    input.configurations[0].p50 = .nan
    input.configurations[0].drift = .infinity
    input.placements[0].plan.predicted = .nan
    input.placements[0].plan.nodes[0].candidates = [PlanCandidate(device: "cpu", seconds: .infinity, source: .measured)]
    input.placements[0].plan.nodes[1].transfers = [
      PlannedTransfer(value: "v", from: "cpu", to: "gone", bytes: .max, seconds: -1),
      PlannedTransfer(value: "w", from: "cpu", to: "gone", bytes: .max, seconds: .nan),
    ]
    input.timelines[0].events.append(
      TraceEvent(name: "lost", kind: .node, device: "cpu", start: .nan, duration: .nan))
    for seconds in [Double.leastNonzeroMagnitude, 1e308] {
      let event = TraceEvent(name: "odd", kind: .node, device: "cpu", start: 0, duration: seconds)
      input.timelines.append(ReportTimeline(units: "odd", events: [event]))
    }
    input.series[0].points = [(.nan, 1), (1, .infinity), (-1, 1)]
    input.series[1].heat = [.init(at: .infinity, state: .fair, headroom: .nan)]
    let html = HTMLReport.render(input)
    #expect(Elements(html).problem == nil)
    #expect(!html.lowercased().contains("nan\""))
    let bare = ReportInput(
      title: "t", verdict: "v", kelvinVersion: "1", generated: "now", machine: ReportFixture.machine,
      model: ReportModel(name: "m", format: "ONNX", layers: 0, weightBytes: 0), workload: "w", devices: [])
    let page = HTMLReport.render(bare)
    #expect(Elements(page).problem == nil)
    #expect(!page.contains("<table"))
    #expect(page.ranges(of: "<h2>").count == 1)
  }

  @Test("a plan of 20 000 layers gives a page of bounded size")
  func large() throws {
    var input = try ReportFixture.input()
    input.placements = [input.placements[0]]
    let node = input.placements[0].plan.nodes[20]
    input.placements[0].plan.nodes = Array(repeating: node, count: 20_000)
    let html = HTMLReport.render(input)
    #expect(html.utf8.count < 6 << 20)
    #expect(html.contains("The first 1500 layers; 18500 more are in the JSON plan."))
  }
}
