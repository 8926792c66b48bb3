import TestSupport
import Testing

/// `inspect --graph` and `--stop-after-pass`, by which a fault is traced to a pass.
@Suite struct GraphDumpTests {
  private func graph(_ extra: String...) -> [Substring] {
    let result = Kelvin.run(["inspect", Kelvin.digits, "--graph"] + extra)
    #expect(result.status == 0, "\(result)")
    return result.output.split(separator: "\n")
  }

  /// The names that a wrong one is answered with, `none` first.
  private func names() throws -> [String] {
    let result = Kelvin.run("inspect", Kelvin.digits, "--graph", "--stop-after-pass", "fold")
    #expect(result.status == 64 && result.errorLines.count == 1, "\(result)")
    let list = try #require(result.errorLines.first?.split(separator: "; use ").last)
    return list.split(separator: ", ").map(String.init)
  }

  @Test func graphIsPrintedAfterEachPass() throws {
    let names = try names()
    #expect(names.first == "none" && names.last == "remove-unused-captures")
    let raw = graph("--stop-after-pass", "none")
    #expect(raw.first?.hasPrefix("input %image: ") == true && raw.last?.hasPrefix("output %") == true)
    #expect(!raw.contains { $0.contains("activation=") })
    let whole = graph()
    #expect(whole.contains { $0.contains("activation=") })
    #expect(whole == graph("--stop-after-pass", "remove-unused-captures"))
    #expect(whole != graph("--stop-after-pass", "fold-bias"))
  }

  @Test(arguments: ["none", "fold-constants-2", "fold-bias"])
  func resultsAgreeAfterAnyPass(name: String) {
    func scores(_ extra: String...) -> [Float] {
      let folder = TemporaryFolder()
      let input = "image=\(Kelvin.image("0_0030.png"))"
      let result = Kelvin.run(["predict", Kelvin.digits, "--input", input, "--output-dir", folder.path] + extra)
      #expect(result.status == 0, "\(result)")
      let bytes = Array(TemporaryFolder.read("\(folder.path)/probabilities.npy").suffix(40))
      return stride(from: 0, to: bytes.count, by: 4).map { place in
        Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) })
      }
    }
    let usual = scores()
    let stopped = scores("--stop-after-pass", name)
    #expect(usual.count == 10 && stopped.count == 10 && usual.max() ?? 0 > 0.5)
    for (usual, stopped) in zip(usual, stopped) { #expect(abs(usual - stopped) < 1e-4) }
  }

  @Test func planHasTheNodesOfTheGraph() throws {
    for name in ["none", "fuse-epilogue"] {
      let result = Kelvin.run("plan", Kelvin.digits, "--units", "cpu", "--json", "--stop-after-pass", name)
      #expect(result.status == 0, "\(result)")
      let planned = try JSONValue(result.output)["nodes"]?.array?.count
      #expect(planned == graph("--stop-after-pass", name).filter { $0.hasPrefix("%") }.count, "\(name)")
    }
  }

  @Test func conflictingOptionsAreRefused() {
    for arguments in [["--stop-after-pass", "none"], ["--graph", "--json"]] {
      let result = Kelvin.run(["inspect", Kelvin.digits] + arguments)
      #expect(result.status == 64 && result.errors.contains("--graph"), "\(result)")
    }
  }
}
