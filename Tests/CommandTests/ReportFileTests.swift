import Glibc
import TestSupport
import Testing

/// Pages and traces as the tool writes them, looked at by a browser and by a checker of the trace format.
@Suite(.serialized) struct ReportFileTests {
  private let folder = TemporaryFolder()

  /// Runs one of the project's Python tools; nil where Python or, for pages, Chromium is not installed.
  private func check(_ tool: String, _ file: String) -> ToolResult? {
    guard access("/usr/bin/python3", X_OK) == 0, access("/usr/bin/chromium", X_OK) == 0 || !tool.hasPrefix("page")
    else {
      return nil
    }
    return Kelvin.run(["--version"], shell: "python3 \(Kelvin.root)/dev/\(tool) \(file) || exit 9")
  }

  /// A layer on another device needs transfers, whose names the page shows.
  @Test(.slow, arguments: [[], ["--pin", "/digits/pool/GlobalAveragePool=reference"]])
  func aPlansPageDrawsEveryNode(pins: [String]) throws {
    let page = "\(folder.path)/plan.html"
    let result = Kelvin.run(["plan", Kelvin.digits, "--units", "cpu,reference", "--report", page, "--json"] + pins)
    #expect(result.status == 0, "\(result)")
    let nodes = try #require(try JSONValue(result.output)["nodes"]?.array)
    let html = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(nodes.count > 10 && html.ranges(of: "class=\"node\"").count == nodes.count)
    #expect(pins.isEmpty || html.contains("class=\"move\""))
    for node in nodes { #expect(html.contains("\(node["name"]?.text ?? "?") ("), "\(node)") }
    if let checked = check("page.py check", page) { #expect(checked.status == 0, "\(checked)") }
  }

  @Test func pageForAnotherMachineStatesThatNothingRan() {
    let page = "\(folder.path)/what-if.html"
    let result = Kelvin.run("plan", "--profile", "sample-discrete-gpu", "--report", page)
    #expect(result.status == 0, "\(result)")
    let html = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(html.contains("A plan for another machine. Nothing here was run."))
    // The sample's best plan is a real split.
    #expect(html.contains("class=\"move\""))
  }

  @Test(.slow) func benchWritesAValidPageAndTrace() {
    let (page, trace) = ("\(folder.path)/bench.html", "\(folder.path)/bench.json")
    let workload = folder.write(
      """
      {"format": "kelvin-workload", "version": 1, "name": "short", "kind": "stream", "coldStarts": 1, "starts": 1,
       "iterations": 12, "warmSeconds": 0, "fps": 40, "duration": 2}
      """, "short.json")
    let result = Kelvin.run(
      "bench", Kelvin.digits, "--workload", workload, "--units", "cpu-only", "--units", "reference", "--no-agreement",
      "--report", page, "--trace", trace)
    #expect(result.status == 0, "\(result)")
    if let checked = check("page.py check", page) {
      #expect(checked.status == 0, "\(checked)")
      #expect(checked.output.contains("\"configurations\": 2, \"series\": 2, \"headroom\": 2"), "\(checked.output)")
    }
    if let checked = check("check-trace.py", trace) {
      #expect(checked.status == 0, "\(checked)")
      // On a busy machine frames overlap, and have a second track of that name.
      #expect(checked.output.contains("\"stream, cpu-only\": [\"frames\""), "\(checked.output)")
    }
  }
}
