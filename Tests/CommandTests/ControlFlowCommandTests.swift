import FoundationEssentials
import TestSupport
import Testing

/// Models with branches and loops on the command line.
@Suite struct ControlFlowCommandTests {
  private static let model = "\(SharedFiles.projectRoot)/Tests/Vectors/Control/data_dependent.onnx"

  @Test func planShowsRegionsAndIterationCounts() throws {
    let result = Kelvin.run("plan", Self.model, "--units", "cpu", "--trips", "40", "--json", "--no-cache")
    #expect(result.status == 0, "\(result)")
    #expect(
      result.output.contains("\"region\" : \"halve\\/body\"") || result.output.contains("\"region\" : \"halve/body\""))
    #expect(result.output.contains("\"trips\" : 40"))
    let text = Kelvin.run("plan", Self.model, "--units", "cpu", "--no-cache")
    #expect(text.output.contains("loop 'halve'"))
    #expect(text.output.contains("10 iterations in each inference"))
    #expect(text.output.contains("  halve/body: 10 × in each inference"), "\(text.output)")
    #expect(text.output.contains("control flow"), "\(text.output)")
    #expect(text.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text.output)")
    #expect(Kelvin.run("plan", Self.model, "--trips", "-1").status == 64)
  }

  /// A loop with a branch in it, known from a profile alone: the output on a terminal of 80 columns.
  @Test func aPlanGroupsNodesByRegion() throws {
    let result = Kelvin.run("plan", "--profile", "\(SharedFiles.projectRoot)/Tests/Golden/looping-profile.json")
    #expect(result.status == 0, "\(result)")
    Golden.expect(result.output, at: "Tests/Golden/plan-regions.txt")
    #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func predictStartsStatesAtZero() {
    let folder = FixtureTree([:])
    let model = "\(SharedFiles.projectRoot)/Tests/Vectors/Decoder/growing.mlpackage"
    let result = Kelvin.run(
      "predict", model, "--seed", "1", "--units", "cpu", "--output-dir", folder.root, "--no-cache")
    #expect(result.status == 0, "\(result)")
    withExtendedLifetime(folder) {}
  }

  private static let looping = "\(SharedFiles.projectRoot)/Tests/Vectors/NetworkControl/condition.mlmodel"

  /// Returns a folder with the vector 1, 2, 3 as `x.npy`, for which the loop has seven iterations.
  private static func vector() throws -> FixtureTree {
    let folder = FixtureTree([:])
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".padding(to: 117) + "\n"
    var file: [UInt8] = [0x93]
    file += Array("NUMPY".utf8)
    file += [1, 0, 118, 0]
    file += Array(header.utf8)
    for number in [1.0, 2, 3] { file += withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
    try Data(file).write(to: URL(filePath: "\(folder.root)/x.npy"))
    return folder
  }

  /// The line of the summary.
  /// The predicted time, without its error: that depends on the pace of the processors.
  private static func predicted(_ output: String) -> Substring? {
    output.split(separator: "\n").first { $0.hasPrefix("predicted") }.map { $0.prefix { $0 != "±" } }
  }

  @Test(.slow, arguments: ["vulkan:0", "opencl:0"]) func profileMeasuresLoopBodiesOnGPUs(device: String) throws {
    let folder = try Self.vector()
    let result = Kelvin.run(
      "profile", Self.looping, "--input", "n=100", "--input", "x=\(folder.root)/x.npy", "--units", "cpu,\(device)",
      "--no-cache", "--budget", "0.3", "--json")
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    let inside = (document["nodes"]?.array ?? []).filter { $0["region"]?.text == "loop_34/body" }
    #expect(!inside.isEmpty)
    for node in inside {
      let measured = (node["costs"]?.array ?? []).filter { $0["seconds"]?.number != nil }.compactMap {
        $0["device"]?.text
      }
      #expect(measured.contains(device), "\(node)")
    }
    let control = document["controlFlow"]?.array ?? []
    #expect(control.compactMap { $0["device"]?.text } == ["cpu", device], "\(control)")
    let trips = control.compactMap { $0["loopTrip"]?.number }
    #expect(trips.count == 2 && trips.allSatisfy { $0 >= 0 }, "\(control)")
    withExtendedLifetime(folder) {}
  }

  @Test func profileMeasuresLoopBodiesOnTheCPU() throws {
    let folder = try Self.vector()
    let (saved, trace, page) = (
      "\(folder.root)/machine.json", "\(folder.root)/trace.json", "\(folder.root)/page.html"
    )
    let result = Kelvin.run(
      "profile", Self.looping, "--input", "n=100", "--input", "x=\(folder.root)/x.npy", "--units", "cpu", "--no-cache",
      "--budget", "0.3", "--save", saved, "--trace", trace, "--report", page, "--json")
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains("loop_34\\/body") || result.output.contains("loop_34/body"))
    let profile = try String(contentsOfFile: saved, encoding: .utf8)
    #expect(profile.contains("\"trips\""))
    let events = try String(contentsOfFile: trace, encoding: .utf8)
    #expect(events.contains("body, iteration 7"))
    #expect(!events.contains("body, iteration 8"))
    let plan = Kelvin.run("plan", Self.looping, "--units", "cpu", "--profile", saved, "--trips", "999", "--no-cache")
    #expect(plan.status == 0, "\(plan)")
    #expect(plan.output.contains("7 iterations in each inference: measured"), "\(plan.output)")
    #expect(!plan.output.contains("999 trips"))
    // A layer is what a device runs, in regions too.
    let rows = try #require(plan.output.firstMatch(of: /: (\d+) nodes/).flatMap { Int($0.1) })
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(html.contains("\(rows) layers"), "\(plan.output)")
    // The profile alone tells the same, without the model or a device.
    let alone = Kelvin.run("plan", "--profile", saved, "--units", "cpu")
    #expect(alone.status == 0, "\(alone)")
    #expect(alone.output.contains("7 iterations in each inference: measured"), "\(alone.output)")
    #expect(alone.output.contains("  loop_34/body: 7 × in each inference"), "\(alone.output)")
    #expect(Self.predicted(alone.output) == Self.predicted(plan.output))
    withExtendedLifetime(folder) {}
  }
}

extension String {
  fileprivate func padding(to count: Int) -> String { self + String(repeating: " ", count: count - self.count) }
}
