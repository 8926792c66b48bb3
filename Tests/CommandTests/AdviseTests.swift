import TestSupport
import Testing

/// `kelvin advise` as the user meets it.
@Suite struct AdviseTests {
  @Test("one document, a page and a plan for each question, which predict takes back", .slow)
  func documentPageAndPlans() throws {
    let folder = TemporaryFolder()
    let (page, plans) = ("\(folder.path)/page.html", "\(folder.path)/plans")
    // With few processors this envelope cannot sustain the frames: its clock falls within seconds.
    let envelope = folder.write(Self.narrow, "narrow.json")
    let result = Kelvin.run(
      [
        "advise", Kelvin.digits, "--units", "cpu", "--no-agreement", "--threads", "1", "--precision",
        "full", "--budget", "10", "--stream", "60", "--photo", "--for", "10m", "--envelope", envelope, "--json",
        "--report", page,
        "--save-plans", plans, "--cache-dir", "\(folder.path)/cache",
      ])
    #expect(result.status == 0, "\(result)")
    if PageTool.hasPython {
      let document = folder.write(result.output, "advice.json")
      let check = "python3 \(SharedFiles.projectRoot)/dev/check-advice.py"
      let checked = Kelvin.run([document], script: "\(check) \"$@\"")
      #expect(checked.status == 0 && checked.output.contains("0 differ"), "\(checked)")
      let forged = Kelvin.run(
        [document], script: "sed 's/\"rate\" *: */&9/' \"$1\" > \"$1.forged\"; \(check) \"$1.forged\"")
      #expect(forged.status == 1 && forged.output.contains("frames/s at the end were printed"), "\(forged)")
    }
    let report = try JSONValue(result.output)
    let rows = try #require(report["rows"]?.array)
    #expect(rows.compactMap { $0["configuration"]?.text } == ["cpu, 1 thread"])
    for row in rows {
      #expect((row["first"]?.number ?? 0) > (row["warm"]?.number ?? .infinity), "\(row)")
      #expect((row["memory"]?["peakResident"]?.number ?? 0) > 1e6, "\(row)")
      #expect(row["stream"]?["p99"]?.number != nil && row["throughput"] == nil, "\(row)")
      #expect(row["sustained"]?["rate"]?.number != nil, "\(row)")
    }
    let picks = try #require(report["picks"]?.array)
    #expect(picks.compactMap { $0["question"]?.text } == ["photo", "stream", "sustained"])
    for pick in picks {
      let file = try #require(pick["plan"]?.text)
      let adopted = Kelvin.run(["plan", Kelvin.digits, "--plan", file])
      #expect(adopted.status == 0, "\(adopted)")
    }
    #expect(report["horizon"]?.number == 600 && report["envelope"]?.text == "narrow")
    #expect(String(decoding: TemporaryFolder.read(page), as: UTF8.self).contains("What to pick"))
  }

  private static let narrow = """
    {
      "format": "kelvin-thermal-envelope", "version": 1, "name": "narrow", "summary": "made up",
      "fast": {"weight": 0.3, "tau": 5}, "slow": {"weight": 0.7, "tau": 180},
      "idleWatts": 0.5, "sustainableWatts": 0.7, "fullLoadWatts": 400,
      "sources": {
        "fast.weight": "made up", "fast.tau": "made up", "slow.weight": "made up", "slow.tau": "made up",
        "idleWatts": "made up", "sustainableWatts": "made up", "fullLoadWatts": "made up"
      }
    }
    """

  /// Statuses of errors that are not usage errors: an unknown name, and a missing device.
  private static let others: [String: Int32] = ["--envelope toaster": 65, "--units vulkan:99": 69]

  @Test(
    "bad requests are refused before anything is measured",
    arguments: [
      "--budget 0", "--budget 1", "--for 1x", "--for h", "--for 5m3", "--stream -5", "--stream 1e9",
      "--units cpu --units cpu", "--envelope toaster", "--units vulkan:99",
    ])
  func refusals(options: String) {
    let result = Kelvin.run(["advise", Kelvin.digits] + options.split(separator: " ").map(String.init))
    #expect(result.status == (Self.others[options] ?? 64) && result.output.isEmpty, "\(result)")
    #expect(result.errorLines.count == 1, "\(result)")
  }
}
