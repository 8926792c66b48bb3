import FoundationEssentials
import TestSupport
import Testing

/// Models with branches and loops on the command line.
@Suite struct ControlFlowCommandTests {
  private static let model = "\(SharedFiles.projectRoot)/Tests/Vectors/Control/data_dependent.onnx"

  @Test func plansTellRegionsAndTrips() throws {
    let result = Kelvin.run("plan", Self.model, "--units", "cpu", "--trips", "40", "--json", "--no-cache")
    #expect(result.status == 0, "\(result)")
    #expect(
      result.output.contains("\"region\" : \"halve\\/body\"") || result.output.contains("\"region\" : \"halve/body\""))
    #expect(result.output.contains("\"trips\" : 40"))
    let text = Kelvin.run("plan", Self.model, "--units", "cpu", "--no-cache")
    #expect(text.output.contains("loop 'halve'"))
    #expect(text.output.contains("10 trips in each inference"))
    #expect(Kelvin.run("plan", Self.model, "--trips", "-1").status == 64)
  }

  @Test func profilesSeeInsideLoops() throws {
    let folder = FixtureTree([:])
    let looping = "\(SharedFiles.projectRoot)/Tests/Vectors/NetworkControl/condition.mlmodel"
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".padding(to: 117) + "\n"
    var file: [UInt8] = [0x93]
    file += Array("NUMPY".utf8)
    file += [1, 0, 118, 0]
    file += Array(header.utf8)
    for number in [1.0, 2, 3] { file += withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) } }
    try Data(file).write(to: URL(filePath: "\(folder.root)/x.npy"))
    let (saved, trace) = ("\(folder.root)/machine.json", "\(folder.root)/trace.json")
    let result = Kelvin.run(
      "profile", looping, "--input", "n=100", "--input", "x=\(folder.root)/x.npy", "--units", "cpu", "--no-cache",
      "--budget", "0.3", "--save", saved, "--trace", trace,
      "--json")
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains("loop_34\\/body") || result.output.contains("loop_34/body"))
    let profile = try String(contentsOfFile: saved, encoding: .utf8)
    #expect(profile.contains("\"trips\""))
    let events = try String(contentsOfFile: trace, encoding: .utf8)
    #expect(events.contains("body, trip 7"))
    #expect(!events.contains("body, trip 8"))
    let plan = Kelvin.run("plan", looping, "--units", "cpu", "--profile", saved, "--trips", "999", "--no-cache")
    #expect(plan.status == 0, "\(plan)")
    #expect(plan.output.contains("7 trips in each inference: measured"), "\(plan.output)")
    #expect(!plan.output.contains("999 trips"))
    let alone = Kelvin.run("plan", "--profile", saved)
    #expect(alone.status != 0)
    #expect(alone.errors.contains("give the model's file"), "\(alone.errors)")
    withExtendedLifetime(folder) {}
  }
}

extension String {
  fileprivate func padding(to count: Int) -> String { self + String(repeating: " ", count: count - self.count) }
}
