import Glibc
import TestSupport
import Testing

/// The bench as the user meets it: processes that it starts, and Ctrl-C.
@Suite struct BenchProcessTests {
  private func bench(_ options: String...) -> [String] {
    ["bench", Kelvin.digits, "--units", "cpu", "--no-cache", "--no-agreement"] + options
  }

  @Test func eachStartRunsInItsOwnProcess() throws {
    let folder = TemporaryFolder()
    let table = "\(folder.path)/samples.csv"
    let result = Kelvin.run(
      bench("--iterations", "12", "--warm-seconds", "0", "--csv", table, "--json"),
      environment: ["TMPDIR": folder.path])
    #expect(result.status == 0, "\(result)")
    let report = try JSONValue(result.output)
    let cpu = try #require(report["configurations"]?[0])
    let (starts, cold) = (try #require(cpu["starts"]?.array), try #require(cpu["coldStarts"]?.array))
    #expect(!starts.isEmpty && !cold.isEmpty)
    for start in starts + cold {
      let parts = ["launch", "load", "compile", "first"].compactMap { start[$0]?.number }
      #expect(parts.count == 4 && parts.allSatisfy { $0 > 0 })
      #expect((start["total"]?.number ?? 0) >= parts.reduce(0, +) - 1e-9)
    }
    #expect(report["partial"] == .bool(false))
    // The caches and requests of the starts are removed.
    #expect(TemporaryFolder.entries(folder.path) == ["samples.csv"])
    let lines = String(decoding: TemporaryFolder.read(table), as: UTF8.self).split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("cpu,warm,") } >= 12)
  }

  /// dev/check-journal.py computes every number again from the raw seconds.
  @Test(.slow) func reportNumbersFollowFromTheJournal() throws {
    let folder = TemporaryFolder()
    let (journal, page) = ("\(folder.path)/run.jsonl", "\(folder.path)/page.html")
    for workload in [["one-shot"], ["stream", "--fps", "200", "--duration", "1"], ["throughput", "--duration", "1"]] {
      let result = Kelvin.run(
        [
          "bench", Kelvin.digits, "--units", "cpu", "--units", "reference", "--no-cache", "--no-agreement",
          "--iterations", "12", "--warm-seconds", "0", "--journal", journal, "--json", "--workload",
        ] + workload)
      #expect(result.status == 0, "\(result)")
      let report = folder.write(result.output, "report.json")
      if PageTool.hasPython {
        let checked = Kelvin.run(
          [journal, report], script: "python3 \(SharedFiles.projectRoot)/dev/check-journal.py \"$@\"")
        #expect(checked.status == 0 && checked.output.contains("0 differ"), "\(checked)")
      }
      let later = Kelvin.run(["report", journal, "--json", "--report", page])
      #expect(later.status == 0 && later.output == result.output, "\(later)")
      #expect(String(decoding: TemporaryFolder.read(page), as: UTF8.self).contains("</html>"))
    }
    folder.write("no journal", "other.jsonl")
    let refused = Kelvin.run(["report", "\(folder.path)/other.jsonl"])
    #expect(refused.status == 65 && refused.errors.contains("line 1"), "\(refused)")
  }

  /// The first sequence compiles a form for the prompt; a state and a fixed mask ask for nothing afterwards.
  @Test(.slow) func tokenTimesFollowLengthWithoutCompilation() throws {
    let folder = TemporaryFolder()
    let (journal, page) = ("\(folder.path)/run.jsonl", "\(folder.path)/page.html")
    let model = "\(SharedFiles.projectRoot)/Tests/Vectors/Decoder/shared.onnx"
    let result = Kelvin.run([
      "bench", model, "--workload", "tokens", "--prompt", "5", "--tokens", "24", "--duration", "0.1", "--units", "cpu",
      "--no-cache", "--journal", journal, "--report", page, "--json",
    ])
    #expect(result.status == 0, "\(result)")
    let tokens = try #require(try JSONValue(result.output)["configurations"]?[0]?["tokens"])
    #expect(tokens["prompt"] == .number(5) && tokens["stretches"]?.array?.count == 8, "\(result.output)")
    #expect(tokens["oneShot"]?["counts"]?["compilations"] == .number(0), "\(result.output)")
    #expect(tokens["sustained"]?["counts"]?["plans"] == .number(0))
    #expect((tokens["oneShot"]?["firstToken"]?.number ?? 0) > 0 && (tokens["line"]?["residual"]?.number ?? -1) >= 0)
    let shown = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(shown.contains("id=\"tokens\"") && shown.contains("in host memory"))
    if PageTool.hasPython {
      let report = folder.write(result.output, "report.json")
      let checked = Kelvin.run(
        [journal, report], script: "python3 \(SharedFiles.projectRoot)/dev/check-journal.py \"$@\"")
      #expect(checked.status == 0 && checked.output.contains("0 differ"), "\(checked)")
    }
    let later = Kelvin.run(["report", journal, "--json"])
    #expect(later.status == 0 && later.output == result.output, "\(later)")
  }

  @Test func nonTokenModelIsRefusedWithMissingRoles() {
    let result = Kelvin.run(bench("--workload", "tokens"))
    #expect(result.status == 65 && result.errors.contains("--token-role"), "\(result)")
    let foreign = Kelvin.run(bench("--workload", "stream", "--prompt", "5"))
    #expect(foreign.status == 64 && foreign.errors.contains("--prompt"), "\(foreign)")
    let role = Kelvin.run(bench("--workload", "tokens", "--token-role", "x=sequence"))
    #expect(role.status == 64 && role.errors.contains("total-length"), "\(role)")
  }

  /// Examples/TokenSequences, built beside the program, goes on with the text that its model was trained on.
  @Test(.slow) func generatingExampleContinuesTheText() {
    let result = Kelvin.run(
      ["\(SharedFiles.projectRoot)/Examples/TokenSequences/Licence.mlpackage", "Licensed under the ", "14"],
      script: "\"$(dirname \"$0\")/TokenSequences\" \"$@\"")
    #expect(result.output == "Licensed under the Apache License\n", "\(result)")
  }

  @Test(.slow) func regressionAgainstEarlierRunExitsWithStatus1() throws {
    let folder = TemporaryFolder()
    func run(_ more: String...) -> ToolResult {
      Kelvin.run(bench("--iterations", "24", "--duration", "0.1", "--json") + more)
    }
    let first = run()
    #expect(first.status == 0, "\(first)")
    let figures = try #require(try JSONValue(first.output)["configurations"]?[0]?["figures"]?.array)
    #expect(figures.count == 2)
    func old(_ factor: Double) -> String {
      let entries = figures.map { figure in
        let seconds = (figure["seconds"]?.number ?? 0) * factor
        return """
          {"name": "\(figure["name"]?.text ?? "")", "seconds": \(seconds), "rounds": 20,
           "interval": {"lower": \(seconds * 0.99), "upper": \(seconds * 1.01), "confidence": 0.95}}
          """
      }
      return folder.write(
        "{\"configurations\": [{\"units\": \"cpu\", \"figures\": [\(entries.joined(separator: ","))]}]}", "old.json")
    }
    // A millionth and a million times of what it takes are beyond the widest interval of a busy machine.
    let worse = run("--compare", old(1e-6))
    #expect(worse.status == 1, "\(worse)")
    #expect(try JSONValue(worse.output)["earlier"]?["entries"]?[0]?["isRegression"] == .bool(true))
    #expect(run("--compare", old(0.01), "--threshold", "1e6").status == 0)
    let better = run("--compare", old(1e6))
    #expect(better.status == 0, "\(better)")
    #expect(try JSONValue(better.output)["earlier"]?["entries"]?[0]?["verdict"] == .text("better"))
    let refused = run("--compare", folder.write("{}", "none.json"))
    #expect(refused.status == 65 && refused.errors.contains("none.json"), "\(refused)")
  }

  @Test(.slow) func verdictPlanCanBeReused() throws {
    let folder = TemporaryFolder()
    let (plan, report) = ("\(folder.path)/plan.json", "\(folder.path)/report.json")
    let result = Kelvin.run(bench("--iterations", "6", "--warm-seconds", "0", "--save-plan", plan, "--json"))
    #expect(result.status == 0, "\(result)")
    folder.write(result.output, "report.json")
    for file in [plan, report] {
      for command in [
        ["predict", Kelvin.digits, "--output-dir", "\(folder.path)/out", "--seed", "1", "--plan", file],
        ["classify", Kelvin.digits, Kelvin.image("7_0043.png"), "--plan", file],
        ["plan", Kelvin.digits, "--plan", file],
        bench("--iterations", "6", "--warm-seconds", "0", "--plan", file),
      ] {
        let taken = Kelvin.run(command)
        #expect(taken.status == 0, "\(command[0]): \(taken)")
      }
    }
    // Another model rejects the plan.
    let refused = Kelvin.run(["plan", Kelvin.digitsPackage, "--plan", plan])
    #expect(refused.status == 65 && refused.errors.contains("another model"), "\(refused)")
  }

  @Test(.slow) func planIsSavedInTheCacheByDefault() throws {
    let folder = TemporaryFolder()
    let result = Kelvin.run([
      "bench", Kelvin.digits, "--units", "cpu", "--no-agreement", "--iterations", "6", "--warm-seconds", "0",
      "--cache-dir", folder.path,
    ])
    #expect(result.status == 0, "\(result)")
    let plans = TemporaryFolder.files("\(folder.path)/plans")
    #expect(plans.count == 1)
    #expect(result.errors.contains(plans.first ?? "no plan"), "\(result)")
  }

  /// Starts a process and sends it a signal after its first output.
  private func interrupted(_ arguments: [String], folder: TemporaryFolder, times: Int) -> ToolResult {
    // The shell waits for the report's folder to be made, by which the bench is under way.
    let script = """
      "$0" "$@" & bench=$!
      while ! ls -d \(folder.path)/kelvin-bench-* >/dev/null 2>&1; do kill -0 $bench || exit 99; sleep 0.02; done
      n=0; while [ $n -lt \(times) ]; do kill -INT $bench; n=$((n+1)); sleep 0.05; done
      wait $bench; status=$?
      cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c "[s]tart-once \(folder.path)" >&2
      exit $status
      """
    return Kelvin.run(arguments, environment: ["TMPDIR": folder.path], script: script)
  }

  @Test func interruptLeavesPartialReportAndNoProcesses() throws {
    let folder = TemporaryFolder()
    let page = "\(folder.path)/page.html"
    let result = interrupted(
      bench("--workload", "stream", "--duration", "600", "--report", page, "--json"), folder: folder, times: 1)
    #expect(result.status == 130, "\(result)")
    // The output reports the measurements, or says that there are none.
    if result.output.isEmpty {
      #expect(result.errors.contains("cancelled"), "\(result)")
    } else {
      let report = try JSONValue(result.output)
      #expect(report["partial"] == .bool(true))
      #expect(report["verdict"]?.text?.hasPrefix("Partial: interrupted during the ") == true)
      #expect(String(decoding: TemporaryFolder.read(page), as: UTF8.self).contains("interrupted during the "))
    }
    #expect(result.errors.split(separator: "\n").last == "0", "\(result)")
    #expect(TemporaryFolder.entries(folder.path)?.contains { $0.hasPrefix("kelvin-bench-") } == false)
  }

  @Test(.slow) func secondInterruptStopsImmediately() throws {
    let folder = TemporaryFolder()
    let result = interrupted(
      bench("--workload", "stream", "--duration", "600", "--json"), folder: folder, times: 40)
    #expect(result.status == 130, "\(result)")
    #expect(result.errors.split(separator: "\n").last == "0", "\(result)")
    #expect(TemporaryFolder.entries(folder.path)?.contains { $0.hasPrefix("kelvin-bench-") } == false)
  }
}
