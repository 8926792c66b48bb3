import FoundationEssentials
import KelvinMeasurements
import KelvinReport
import TestSupport
import Testing

@Suite("Trace export")
struct TraceExportTests {
  private let trace = Trace(
    events: [
      TraceEvent(
        name: "fc \"logits\"", kind: .node, device: "cpu", start: 10.0015, duration: 0.00025,
        details: ["op": "gemm"]),
      TraceEvent(name: "conv1", kind: .node, device: "vulkan:0", start: 10.00005, duration: 0.001234567),
      TraceEvent(
        name: "in", kind: .transfer, device: "vulkan:0", start: 10, duration: 0.00005,
        details: ["from": "cpu", "bytes": "6"]),
    ],
    counters: [TraceCounter(name: "heat (model)", at: 10.001, values: ["headroom": 0.25])],
    marks: [TraceMark(name: "drop", at: 10.002, details: ["cause": "fair"])])

  static let golden = """
    {"displayTimeUnit":"ms","traceEvents":[
    {"ph":"M","name":"process_name","pid":0,"args":{"name":"cpu"}},
    {"ph":"M","name":"process_sort_index","pid":0,"args":{"sort_index":0}},
    {"ph":"M","name":"process_name","pid":1,"args":{"name":"vulkan:0"}},
    {"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":1}},
    {"ph":"M","name":"process_name","pid":2,"args":{"name":"transfers"}},
    {"ph":"M","name":"process_sort_index","pid":2,"args":{"sort_index":2}},
    {"ph":"M","name":"process_name","pid":3,"args":{"name":"machine"}},
    {"ph":"M","name":"process_sort_index","pid":3,"args":{"sort_index":3}},
    {"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"queue 0"}},
    {"ph":"M","name":"thread_sort_index","pid":0,"tid":0,"args":{"sort_index":0}},
    {"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"queue 0"}},
    {"ph":"M","name":"thread_sort_index","pid":1,"tid":0,"args":{"sort_index":0}},
    {"ph":"M","name":"thread_name","pid":2,"tid":0,"args":{"name":"cpu → vulkan:0"}},
    {"ph":"M","name":"thread_sort_index","pid":2,"tid":0,"args":{"sort_index":0}},
    {"ph":"X","name":"in","cat":"transfer","pid":2,"tid":0,"ts":0.000,"dur":50.000,"args":{"bytes":"6","from":"cpu"}},
    {"ph":"X","name":"conv1","cat":"node","pid":1,"tid":0,"ts":50.000,"dur":1234.567,"args":{}},
    {"ph":"X","name":"fc \\"logits\\"","cat":"node","pid":0,"tid":0,"ts":1500.000,"dur":250.000,"args":{"op":"gemm"}},
    {"ph":"s","name":"value","cat":"flow","id":0,"pid":2,"tid":0,"ts":49.999},
    {"ph":"f","bp":"e","name":"value","cat":"flow","id":0,"pid":1,"tid":0,"ts":50.000},
    {"ph":"C","name":"heat (model)","pid":3,"ts":1000.000,"args":{"headroom":0.25}},
    {"ph":"i","s":"g","name":"drop","pid":3,"tid":0,"ts":2000.000,"args":{"cause":"fair"}}
    ]}

    """

  @Test("the exported trace matches the golden file in any recording order")
  func golden() {
    #expect(String(decoding: TraceExport.chromeJSON(trace), as: UTF8.self) == Self.golden)
    var reversed = trace
    reversed.events.reverse()
    #expect(TraceExport.chromeJSON(reversed) == TraceExport.chromeJSON(trace))
  }

  private struct Document: Decodable {
    struct Event: Decodable {
      var ph: String
      var name: String
      var ts: Double?
    }
    var traceEvents: [Event]
  }

  @Test("any name and any time gives valid JSON")
  func hostile() throws {
    let name = "a\u{0}\u{1F}\"\\\n\t</script>\u{2028}🙂"
    var wild = Trace(events: [
      TraceEvent(name: name, kind: .node, device: name, queue: name, start: 0, duration: 1, details: [name: name]),
      TraceEvent(name: "lost", kind: .node, device: "cpu", start: .nan, duration: 1),
      TraceEvent(name: "lost", kind: .node, device: "cpu", start: 0, duration: -1),
      TraceEvent(name: "late", kind: .wait, device: "cpu", start: 1e300, duration: 1e300),
    ])
    wild.counters = [TraceCounter(name: name, at: 0, values: ["x": .nan, "y": 1e-9])]
    let document = try JSONDecoder().decode(Document.self, from: Data(TraceExport.chromeJSON(wild)))
    #expect(document.traceEvents.contains { $0.name == name && $0.ph == "X" })
    #expect(!document.traceEvents.contains { $0.name == "lost" })
    let empty = try JSONDecoder().decode(Document.self, from: Data(TraceExport.chromeJSON(Trace())))
    #expect(empty.traceEvents.map(\.ph) == ["M", "M"])
  }

  @Test(
    "a trace of a mixed inference keeps the format's rules, as an independent checker reads them",
    .enabled(if: PageTool.hasPython, "python3 is not installed"))
  func rules() throws {
    var trace = Trace(events: ReportFixture.mixedEvents)
    // Frames of a stream that overlap without being inside one another, and spans that touch after rounding.
    for frame in 0..<40 {
      let start = 0.0333 * Double(frame)
      trace.events.append(
        TraceEvent(name: "frame \(frame)", kind: .frame, device: "stream", start: start, duration: 0.05 + 1e-10))
    }
    for span in 0..<300 {
      trace.events.append(
        TraceEvent(
          name: "\(span)", kind: .node, device: "cpu", start: 200 + 1e-4 / 3 * Double(span), duration: 1e-4 / 3))
    }
    trace.counters = (0..<5).map { TraceCounter(name: "heat", at: Double($0), values: ["headroom": 0.1 * Double($0)]) }
    trace.marks = [TraceMark(name: "governor: rate × 0.5", at: 3, details: ["cause": "fair"])]
    let found = try PageTool.run("dev/check-trace.py", on: TraceExport.chromeJSON(trace), suffix: ".json")
    #expect(found.status == 0, "\(found.output)")
    #expect(found.output.contains("\"s\": 16") && found.output.contains("\"f\": 16"), "\(found.output)")

    // The checker finds each planted fault.
    let sound = String(decoding: TraceExport.chromeJSON(trace), as: UTF8.self)
    let broken =
      sound
      .replacing("\"bp\":\"e\",", with: "").replacing("\"tid\":1,", with: "\"tid\":0,")
    let faults = try PageTool.run("dev/check-trace.py", on: Array(broken.utf8), suffix: ".json")
    #expect(faults.status == 1 && faults.output.contains("lacks bp") && faults.output.contains("overlaps"))
    for (what, with, complaint) in [
      ("\"ts\":", "\"ts\":-", "ts is -"), ("\"ts\":", "\"ts\":NaN,\"was\":", "NaN is not JSON"),
      ("\"headroom\":0", "\"headroom\":true,\"was\":0", "other things than numbers"),
      ("\"pid\":1", "\"pid\":\"1\"", "no whole number"),
    ] {
      let found = try PageTool.run(
        "dev/check-trace.py", on: Array(sound.replacing(what, with: with).utf8), suffix: ".json")
      #expect(found.status == 1 && found.output.contains(complaint), "\(complaint): \(found.output)")
    }
  }
}
