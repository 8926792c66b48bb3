import FoundationEssentials
import TestSupport
import Testing

/// Golden files in the repository: run with UPDATE_GOLDEN=1 to rewrite them, and review the difference.
@Suite struct PageTests {
  @Test(arguments: [
    "", "devices", "inspect", "predict", "classify", "segment", "detect", "pose", "stream", "index", "search",
    "categories", "evaluate", "answer", "embed", "use", "generate", "compress", "encrypt", "publish", "fetch", "models",
    "plan", "profile",
    "bench", "advise", "operators",
  ])
  func helpMatchesTheGoldenFile(command: String) {
    let result = Kelvin.run(
      (command.isEmpty ? [] : [command]) + ["--help"], environment: ["COLUMNS": "80"])
    #expect(result.status == 0, "\(result)")
    #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    Golden.expect(result.output, at: "Tests/Golden/help\(command.isEmpty ? "" : "-\(command)").txt")
  }

  @Test func theVersionIsPrinted() {
    let result = Kelvin.run("--version")
    #expect(result.status == 0)
    #expect(result.output.split(separator: ".").count == 3)
  }

  /// Whether a Vulkan and an OpenCL device are here that compute on the CPU, as on the machines that wrote the page.
  static let hasSoftwareDrivers: Bool = {
    guard let devices = try? JSONValue(Kelvin.run("devices", "--json").output).array else { return false }
    return ["vulkan", "opencl"].allSatisfy { family in
      let first = devices.first { $0["id"]?.text?.hasPrefix("\(family):") == true && $0["available"]?.bool == true }
      return first?["kind"]?.text == "software"
    }
  }()

  @Test(
    .slow, .enabled(if: PageTests.hasSoftwareDrivers, "needs a Vulkan and an OpenCL driver that compute on the CPU"))
  func operatorPageMatchesTheDevices() {
    let result = Kelvin.run("operators", "--markdown")
    #expect(result.status == 0, "\(result)")
    Golden.expect(result.output, at: "docs/operators.md")
  }

  @Test func coveragePageListsTheSupportedOperators() throws {
    let page = try String(contentsOfFile: "\(Kelvin.root)/docs/coverage.md", encoding: .utf8)
    /// Returns the names in the page's lists that begin with a string.
    func named(_ beginning: String) -> Set<Substring> {
      Set(
        page.split(separator: "\n").filter { $0.hasPrefix(beginning) }.flatMap { line in
          line.split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        })
    }
    let read = named("Read, ")
    let known = try JSONValue(Kelvin.run("operators", "--formats", "--json").output)
    for format in ["onnx", "mlProgram", "neuralNetwork", "models"] {
      let names = try #require(known[format]?.array).compactMap(\.text)
      #expect(names.count > 20)
      for name in names {
        // The page is about the newest operator sets, and names operators of other domains under those.
        let short = name.hasPrefix("ai.onnx.") ? name.split(separator: ".").last ?? "" : Substring(name)
        #expect(!named("Not yet, ").contains(short), "\(name)")
        if format != "onnx" { #expect(read.contains(short), "\(name)") }
      }
    }
  }

  @Test(arguments: [
    ["devices"], ["inspect", Kelvin.digits], ["plan", Kelvin.digits, "--units", "cpu,reference"],
    ["plan", Kelvin.digits, "--units", "cpu,reference", "--verbose"], ["operators"], ["operators", "--verbose"],
    ["profile", Kelvin.digits, "--units", "cpu", "--budget", "0.2"],
    ["classify", Kelvin.digits, Kelvin.image("0_0030.png"), Kelvin.image("9_0199.jpg")],
  ])
  func tablesFitAnOrdinaryTerminal(arguments: [String]) {
    let result = Kelvin.run(arguments, environment: ["COLUMNS": "80"])
    #expect(result.status == 0, "\(result)")
    #expect(!result.output.isEmpty)
    for line in result.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    // Line feeds of the tool end lines; only line feeds in external names are escaped.
    #expect(!result.output.contains("\\n"), "\(result.output)")
  }
}
