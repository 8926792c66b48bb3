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

  @Test func profilingSaysThatItDoesNotSeeInside() {
    let result = Kelvin.run("profile", Self.model, "--units", "cpu", "--no-cache")
    #expect(result.status != 0)
    #expect(result.errors.contains("does not see inside branches, loops and states"), "\(result.errors)")
    #expect(result.errors.contains("'bench'"))
  }
}
