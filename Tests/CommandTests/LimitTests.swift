import TestSupport
import Testing

/// The resources that a model may use are limited by the user's options, the system's limits and the machine.
@Suite struct LimitTests {
  private static let vast = 1 << 33

  /// A loop of 2^60 iterations.
  private static let endless = ONNXFile.loop(trips: 1 << 60)

  @Test(arguments: ["predict", "profile", "bench", "plan"])
  func inputsTooLargeForMemoryAreRefused(command: String) {
    let folder = TemporaryFolder()
    let path = folder.write(ONNXFile.rectifier(Self.vast), "vast.onnx")
    let more = ["predict": ["--seed", "1", "--output-dir", folder.path], "plan": ["--trial"]][command] ?? []
    let result = Kelvin.run([command, path, "--units", "cpu-only"] + more)
    // A plan stays valid if its trial fails.
    #expect(result.signal == nil && (result.status == 70 || command == "plan"), "\(result)")
    #expect(result.errorLines.count == (result.status == 0 ? 0 : 1), "\(result)")
  }

  @Test(arguments: Tier.some(1, of: ["predict", "profile"])) func endlessLoopStopsAtItsTimeLimit(command: String) {
    let folder = TemporaryFolder()
    let path = folder.write(Self.endless, "endless.onnx")
    let more = command == "predict" ? ["--seed", "1", "--output-dir", folder.path] : []
    let result = Kelvin.run([command, path, "--units", "cpu-only", "--max-seconds", "1"] + more)
    #expect(result.status == 75, "\(result)")
    #expect(result.errorLines.count == 1 && result.errors.contains("predicting"), "\(result)")
    #expect(result.errors.contains("--max-seconds"))
  }

  @Test func memoryBeyondTheLimitIsRefused() {
    let folder = TemporaryFolder()
    let path = folder.write(ONNXFile.rectifier(1 << 26), "large.onnx")
    let arguments = ["predict", path, "--units", "cpu-only", "--seed", "1", "--output-dir", folder.path]
    let result = Kelvin.run(arguments + ["--max-memory", "64MB"])
    #expect(result.status == 75, "\(result)")
    #expect(result.errorLines.count == 1 && result.errors.contains("--max-memory"), "\(result)")
  }

  @Test(arguments: [
    ["devices"], ["operators"], ["use"], ["search", "."], ["categories", "."], ["report", "r.json"], ["index", "."],
    ["inspect", Kelvin.digits], ["plan", Kelvin.digits], ["bench", Kelvin.digits], ["profile", Kelvin.digits],
  ])
  func everyCommandTakesLimits(arguments: [String]) {
    let result = Kelvin.run(arguments + ["--max-seconds", "0", "--max-memory", "1GB"])
    #expect(result.status == 64 && result.errors.contains("is not a length of time above 0"), "\(result)")
  }

  @Test func planWithinItsLimitsSucceeds() {
    let result = Kelvin.run(["plan", Kelvin.digits, "--max-seconds", "50s", "--max-memory", "2GiB"])
    #expect(result.status == 0, "\(result)")
  }

  @Test(arguments: ["0", "-3", "3XB", "", "nan", "1e40GB"]) func invalidSizeIsRefused(text: String) {
    #expect(Kelvin.run(["plan", Kelvin.digits, "--max-memory=\(text)"]).status == 64)
  }

  /// Address space in MB: from too little for the program's libraries to enough for all. With less than the program's own
  /// segments take, which are about 66 MB, the system ends it by a signal before it starts.
  private static let ladder = [80, 100, 150, 200, 250, 300, 400, 600, 800, 1000, 1500, 2000]

  @Test(
    .boundsAddresses,
    arguments: [["devices"], ["plan", Kelvin.digits], ["predict", Kelvin.digits, "--seed", "1"]],
    Tier.sample(4, of: ladder))
  func smallAddressSpaceGivesResultOrReason(arguments: [String], megabytes: Int) {
    let folder = TemporaryFolder()
    let more = arguments[0] == "predict" ? ["--output-dir", folder.path] : []
    let result = Kelvin.run(arguments + more, shell: "ulimit -v \(megabytes * 1000)")
    // 127: the system could not start the program. A signal means a timeout of the test, or a crash.
    #expect([0, 69, 70, 127].contains(result.status), "\(megabytes) MB: \(result)")
    if result.status == 0 { #expect(!result.output.isEmpty) } else { #expect(!result.errors.isEmpty) }
  }
}
