import TestSupport
import Testing

/// The option `--isolate`.
@Suite(.runsWorkers) struct IsolateTests {
  private static let images = [Kelvin.image("0_0030.png"), Kelvin.image("9_0199.jpg")]

  /// Runs a command with and without isolation.
  private func bothWays(_ arguments: [String]) -> (plain: ToolResult, isolated: ToolResult) {
    (Kelvin.run(arguments), Kelvin.run(arguments + ["--isolate"]))
  }

  @Test(arguments: [
    ["classify", Kelvin.digits] + images, ["classify", Kelvin.digitsPackage] + images, ["inspect", Kelvin.digits],
    ["plan", Kelvin.digits, "--units", "cpu-only"], ["inspect", "/nonexistent.onnx"],
    ["classify", Kelvin.digits, "/etc/passwd"] + images,
  ])
  func isolatedCommandGivesTheSameResult(arguments: [String]) {
    let (plain, isolated) = bothWays(arguments)
    #expect(isolated.status == plain.status && isolated.output == plain.output, "\(isolated)")
    #expect(isolated.errors == plain.errors)
  }

  @Test(
    .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)),
    arguments: Tier.some(
      1,
      of: [
        ["MobileNetV2_int8.mlpackage"], ["MobileNetV2_f32.onnx", "--normalization=-1:1"],
        ["MobileNetV2_nn_f16.mlmodel"],
      ]))
  func isolatedRealModelPredictsTheSame(model: [String]) {
    let more = ["--units", "cpu-only", "--deterministic"] + model.dropFirst() + Self.images
    let (plain, isolated) = bothWays(["classify", SharedFiles.path("models/\(model[0])")] + more)
    #expect(plain.status == 0 && isolated.status == 0, "\(isolated)")
    #expect(isolated.output == plain.output)
  }

  @Test(arguments: ["devices", "operators"]) func commandsWithoutFilesHaveNoIsolation(command: String) {
    #expect(Kelvin.run(command, "--isolate").status == 64)
  }

  @Test(arguments: [["isolated-worker"], ["isolated-worker", "x"]]) func workerNeedsItsArgument(arguments: [String]) {
    #expect(Kelvin.run(arguments).status == 64)
  }

  @Test func workerWithoutParentEnds() {
    // Standard input is not a socket.
    #expect(Kelvin.run("isolated-worker", "1000000000").status == 1)
  }
}
