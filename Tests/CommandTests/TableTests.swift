import TestSupport
import Testing

/// `kelvin predict --csv`.
@Suite struct TableTests {
  private let folder = TemporaryFolder()
  private static let linear = "\(Kelvin.root)/Tests/Vectors/Classical/linear.mlmodel"

  private func predict(_ arguments: [String], shell: String? = nil) -> ToolResult {
    Kelvin.run(["predict", Self.linear, "--units", "cpu"] + arguments, shell: shell)
  }

  private func text(_ path: String) -> String { String(decoding: TemporaryFolder.read(path), as: UTF8.self) }

  @Test func filesAndStandardStreamsGiveTheSameTable() throws {
    let input = folder.write("id,a,b,c,d\nx,1,2,3,4\n\"y, z\",5,6,7,8\n", "in.csv")
    let output = "\(folder.path)/out.csv"
    let result = predict(["--csv", input, "--output", output, "--keep", "id", "--json"])
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    #expect(document["rows"]?.number == 2 && document["faulty"]?.number == 0 && document["output"]?.text == output)
    #expect(document["columns"]?.array?.map(\.text) == ["id", "y"])
    let lines = text(output).split(separator: "\n")
    #expect(lines.count == 3 && lines[0] == "id,y" && lines[2].hasPrefix("\"y, z\","))
    for arguments in [
      ["--csv", input], ["--csv", "-"], ["--csv", "-", "--output", "-"],
      ["--csv", "/dev/stdin", "--output", "/dev/stdout"],
    ] {
      let piped = predict(arguments + ["--keep", "id"], shell: "exec < '\(input)'")
      #expect(piped.status == 0 && piped.output == text(output), "\(arguments): \(piped)")
    }
  }

  @Test func reportPageHasTheFirstRows() {
    let rows = (0..<300).map { "\($0),1,2,3" }
    let input = folder.write((["a,b,c,d"] + rows).joined(separator: "\n"), "in.csv")
    let (output, page) = ("\(folder.path)/out.csv", "\(folder.path)/page.html")
    let result = predict(["--csv", input, "--output", output, "--keep", "a", "--report", page, "--separator", ","])
    #expect(result.status == 0, "\(result)")
    let html = text(page)
    #expect(html.contains("300 rows, 0 of them invalid; the first 200 are shown") && html.contains("<td>199</td>"))
    #expect(!html.contains("<td>200</td>"))
    let stream = predict(["--csv", input, "--report", page])
    #expect(stream.status == 64 && stream.errors.contains("--output"), "\(stream)")
  }

  @Test func columnErrorsNameTheTable() {
    let twice = predict(["--csv", folder.write("a,b,b\n1,2,3\n", "twice.csv")])
    #expect(
      twice.status == 65 && twice.errors.contains("twice.csv': the columns 2 and 3 are both called 'b'"), "\(twice)")
    let few = predict(["--csv", folder.write("a,b,c\n1,2,3\n", "few.csv")])
    #expect(few.status == 65 && few.errors.contains("few.csv': there is no column for the input 'd'"), "\(few)")
  }

  @Test func rowErrorNamesItsPlaceAndKeepsTheOldFile() {
    let input = folder.write("a,b,c,d\n1,2,3,4\n1,2,\u{1B}[31m,4\n5,6,7,8\n", "in.csv")
    let output = folder.write("before", "out.csv")
    let result = predict(["--csv", input, "--output", output])
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
    #expect(
      result.errors.contains("'\(input)', line 3, column 'c': expected a number") && !result.errors.contains("\u{1B}"))
    #expect(text(output) == "before")
    let going = predict(["--csv", input, "--output", output, "--keep-going"])
    #expect(going.status == 65 && going.errorLines.count == 1, "\(going)")
    #expect(
      text(output).split(separator: "\n", omittingEmptySubsequences: false).map(\.isEmpty) == [
        false, false, true, false, true,
      ])
  }

  @Test(arguments: [
    ("1\0999", "expected a number, got '1"), ("0x10", "expected a number, got '0x10'"),
    ("infinity", "expected a number, got 'infinity'"),
    ("1e400", "expected a number from -1.79e308 to 1.79e308, got '1e400'"),
    ("-1e400", "expected a number from -1.79e308 to 1.79e308, got '-1e400'"),
    ("1_000", "expected a number, got '1_000'"),
  ])
  func cellThatIsNotADecimalNumberIsAnError(cell: String, reason: String) {
    let input = folder.write("a,b,c,d\n1,2,3,4\n1,2,\(cell),4\n", "in.csv")
    let result = predict(["--csv", input])
    #expect(result.status == 65 && result.errors.contains("'\(input)', line 3, column 'c': \(reason)"), "\(result)")
  }

  @Test func numberBeyondTheTypeOfTheInputIsAnError() {
    let model = "\(Kelvin.root)/Tests/Vectors/Arrays/numbers.onnx"
    let input = folder.write("x\n\"[[1e39]]\"\n", "in.csv")
    let result = Kelvin.run("predict", model, "--csv", input, "--units", "cpu", "--shape", "x=1x1")
    #expect(result.status == 65 && result.errors.contains("expected a number from -3.4e38 to 3.4e38"), "\(result)")
    let largest = folder.write("x\n\"[[3.4028235e38]]\"\n", "largest.csv")
    #expect(Kelvin.run("predict", model, "--csv", largest, "--units", "cpu", "--shape", "x=1x1").status == 0)
  }

  @Test func formulasAreQuotedWhenAsked() {
    let input = folder.write("=id,a,b,c,d\n=1+1,1,2,3,4\n-5,1,2,3,4\n", "in.csv")
    let plain = predict(["--csv", input, "--keep", "=id"])
    #expect(plain.status == 0 && plain.output.hasPrefix("=id,y\n=1+1,"), "\(plain)")
    let safe = predict(["--csv", input, "--keep", "=id", "--csv-safe"])
    #expect(safe.status == 0 && safe.output.hasPrefix("'=id,y\n'=1+1,") && safe.output.contains("\n-5,"), "\(safe)")
    let unused = predict(["--csv-safe", "--output-dir", folder.path])
    #expect(unused.status == 64 && unused.errors.contains("--csv-safe belongs to --csv"), "\(unused)")
  }

  @Test func unreadableOrUnwritableFileIsOneErrorLine() {
    let input = folder.write("a,b,c,d\n1,2,3,4\n", "in.csv")
    for (arguments, status, reason) in [
      (["--csv", "\(folder.path)/absent.csv"], 65, "No such file"), (["--csv", folder.path], 65, "Is a directory"),
      (["--csv", input, "--output", input], 64, "is the input table"),
      (["--csv", input, "--output", folder.path], 65, "Is a directory"),
      (["--csv", input, "--output", "/dev/full"], 70, "No space left"),
      (["--csv", input, "--output", "\(folder.path)/no/out.csv"], 65, "No such file"),
      (["--csv", input, "--input", "a=1"], 64, "--csv takes inputs from the table"),
      (["--keep", "a", "--output-dir", "x"], 64, "belong to --csv"),
      (["--csv", input, "--json"], 64, "--json takes standard output"),
      (["--csv", input, "--separator", "xy"], 64, "--separator takes"),
      (["--csv", input, "--columns", "a=z"], 64, "no column is called 'z'"), ([], 64, "give --output-dir"),
    ] as [([String], Int32, String)] {
      let result = predict(arguments)
      #expect(result.status == status && result.errors.contains(reason), "\(arguments): \(result)")
    }
    #expect(TemporaryFolder.entries(folder.path) == ["in.csv"])
  }

  @Test func fullDiskKeepsTheOldFile() {
    let input = folder.write("a,b,c,d\n" + String(repeating: "1,2,3,4\n", count: 40_000), "in.csv")
    let output = folder.write("before", "out.csv")
    // Two hundred blocks of 512 bytes.
    let result = predict(["--csv", input, "--output", output], shell: "ulimit -f 200")
    #expect(result.status == 70 && result.errors.contains("File too large"), "\(result)")
    #expect(text(output) == "before" && TemporaryFolder.entries(folder.path)?.sorted() == ["in.csv", "out.csv"])
  }

  @Test func interruptedRunKeepsRowsInAPartialFile() {
    let pipe = "\(folder.path)/pipe"
    let output = folder.write("before", "out.csv")
    // The table does not end, so the tool is interrupted once part of the output has arrived.
    // The input is larger than a pipe's buffer, so the tool has begun to read.
    let script = """
      mkfifo '\(pipe)'; "$0" "$@" --csv '\(pipe)' --output '\(output)' & tool=$!
      exec 9> '\(pipe)'; echo a,b,c,d >&9; yes 1,2,3,4 | head -n 20000 >&9
      kill -TERM $tool; wait $tool
      """
    let result = Kelvin.run(["predict", Self.linear, "--units", "cpu"], script: script)
    #expect(result.status == 130 && result.errors.contains("interrupted after"), "\(result)")
    #expect(text(output) == "before")
    let partial = text("\(output).partial")
    #expect(partial.hasPrefix("y\n") && partial.hasSuffix("\n"))
  }
}
