import FoundationEssentials
import TestSupport
import Testing

/// Profiles as files: planned from without their machine, merged, edited, and refused where they are wrong.
@Suite struct ProfileFileTests {
  private func document(_ arguments: [String]) throws -> JSONValue {
    let result = Kelvin.run(arguments + ["--no-cache", "--json"])
    #expect(result.status == 0, "\(result)")
    return try JSONValue(result.output)
  }

  /// The example of the documentation.
  private static let example: String = {
    let page = (try? String(contentsOfFile: "\(Kelvin.root)/docs/profile-format.md", encoding: .utf8)) ?? ""
    guard let start = page.firstRange(of: "```json\n")?.upperBound,
      let end = page[start...].firstRange(of: "\n```")?.lowerBound
    else { return "" }
    return String(page[start..<end])
  }()

  private func devices(_ plan: JSONValue) -> [String: Int] {
    Dictionary(grouping: plan["nodes"]?.array ?? []) { $0["device"]?.text ?? "" }.mapValues(\.count)
  }

  @Test func sampleProfilePlanIsASplitLabelledSample() throws {
    let plan = try document(["plan", "--profile", "sample-discrete-gpu"])
    let counts = devices(plan)
    #expect(counts["cpu", default: 0] > 10 && counts["vulkan:0", default: 0] > 10, "\(counts)")
    #expect(plan["whatIf"]?["label"]?.text == "sample")
    let text = Kelvin.run("plan", "--profile", "sample-discrete-gpu", "--no-cache")
    #expect(text.output.hasPrefix("WHAT IF"), "\(text)")
    #expect(text.output.contains("sample") && text.output.contains("cannot be run"))
    #expect(text.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let slow = try document(["plan", "--profile", "sample-discrete-gpu", "--link", "cpu:vulkan:0=1MB/s,1ms"])
    #expect(devices(slow)["vulkan:0"] == nil)
    let page = try String(contentsOfFile: "\(Kelvin.root)/dev/demo.sh", encoding: .utf8)
    #expect(page.contains("plan --profile sample-discrete-gpu"))
  }

  @Test func documentedExampleGivesTheDocumentedPlan() throws {
    let folder = TemporaryFolder()
    let file = folder.write(Self.example, "example.json")
    let plan = try document(["plan", "--profile", file])
    let placement = Dictionary(
      uniqueKeysWithValues: (plan["nodes"]?.array ?? []).map { ($0["name"]?.text ?? "", $0["device"]?.text ?? "") })
    #expect(placement == ["body": "vulkan:0", "head": "cpu"])
    #expect(try document(["plan", "example", "--profile", file])["model"]?.text == "example")
  }

  @Test func modelIsPlannedForAnotherMachine() throws {
    let plan = try document(["plan", Kelvin.digits, "--profile", "sample-discrete-gpu"])
    let candidates = (plan["nodes"]?.array ?? []).flatMap { $0["candidates"]?.array ?? [] }
    #expect(candidates.contains { $0["device"]?.text == "vulkan:0" && $0["source"]?.text == "estimated" })
    #expect((plan["estimates"]?.array ?? []).contains { ($0["leaveOneOutError"]?.number ?? -1) >= 0 })
    #expect(plan["whatIf"]?["reasons"]?.array?.isEmpty == false)
  }

  @Test func planForAnotherMachineIsNeverRun() throws {
    let folder = TemporaryFolder()
    let file = folder.write(Self.example, "example.json")
    let plan = "\(folder.path)/plan.json"
    #expect(Kelvin.run("plan", "--profile", file, "--save", plan, "--no-cache").status == 0)
    let adopted = Kelvin.run(
      "predict", Kelvin.digits, "--plan", plan, "--seed", "1", "--no-cache", "--output-dir", folder.path)
    #expect(adopted.status == 65 && adopted.errorLines.count == 1, "\(adopted)")
    let sample = Kelvin.run(
      "predict", Kelvin.digits, "--profile", file, "--seed", "1", "--no-cache", "--output-dir", folder.path)
    #expect(sample.status == 64 && sample.errors.contains("sample"), "\(sample)")
    // For a profile of another machine everything is ignored, with a message.
    let elsewhere = folder.write(Self.example.replacing("\"sample\"", with: "\"measured\""), "elsewhere.json")
    let predicted = Kelvin.run(
      "predict", Kelvin.digits, "--profile", elsewhere, "--seed", "1", "--no-cache", "--output-dir", folder.path)
    #expect(predicted.status == 0 && predicted.errors.contains("ignored: measured on Any"), "\(predicted)")
  }

  @Test func profilesAreMerged() throws {
    let folder = TemporaryFolder()
    let file = folder.write(Self.example, "example.json")
    let faster = Self.example.replacing("0.0003", with: "0.0001").replacing("\"example\": {", with: "\"second\": {")
      .replacing("\"name\": \"example\"", with: "\"name\": \"second\"")
    let merged = "\(folder.path)/merged.json"
    let result = Kelvin.run(
      "profile", "--merge", file, folder.write(faster, "faster.json"), "--save", merged)
    #expect(result.status == 0, "\(result)")
    let plan = try document(["plan", "example", "--profile", merged])
    let body = try #require(plan["nodes"]?.array?.first)
    #expect((body["candidates"]?.array ?? []).contains { $0["seconds"]?.number == 0.0001 })
    // Two graphs: one has to be named.
    let unnamed = Kelvin.run("plan", "--profile", merged, "--no-cache")
    #expect(unnamed.status == 64 && unnamed.errors.contains("example, second"), "\(unnamed)")
    #expect(Kelvin.run("profile", "--merge", file).status == 64)
    #expect(Kelvin.run("profile").status == 64)
    #expect(Kelvin.run("profile", Kelvin.digits, "--merge", file, "--save", merged).status == 64)
  }

  @Test(arguments: [
    ("0.004", "-0.004", "seconds"), ("12e9", "0", "bytesPerSecond"), ("\"big 4t\": {", "\"other\": {", "key"),
    ("\"outputs\": [\"z\"]", "\"outputs\": [\"q\"]", "q"), ("\"inputs\": [\"y\"]", "\"inputs\": [\"z\"]", ""),
    ("\"kind\": \"cpu\"", "\"kind\": \"discrete GPU\"", "CPU"), ("\"version\": 3", "\"version\": 9", "version 9"),
    ("kelvin-profile", "recipe", "recipe"), ("\"bytes\": 4000", "\"bytes\": -1", "bytes"),
    ("\"latency\": 0.00002", "\"latency\": 1e300", ""),
  ])
  func wrongProfilesAreRefused(text: String, replacement: String, place: String) {
    let folder = TemporaryFolder()
    let file = folder.write(Self.example.replacing(text, with: replacement, maxReplacements: 1), "p.json")
    let result = Kelvin.run("plan", "--profile", file, "--no-cache")
    #expect(result.status == 65 || result.status == 64, "\(result)")
    #expect(result.errorLines.count == 1 && result.errors.contains(place), "\(result)")
    #expect(result.output.isEmpty)
  }

  @Test(arguments: ["cpu:vulkan:9=1GB/s", "cpu:vulkan:0=fast", "cpu:vulkan:0", ""])
  func wrongLinksAreWrongUsage(link: String) {
    let result = Kelvin.run("plan", "--profile", "sample-discrete-gpu", "--link", link, "--no-cache")
    #expect(result.status == 64 && result.errorLines.count == 1, "\(result)")
  }
}
