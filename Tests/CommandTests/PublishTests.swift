import Glibc
import TestSupport
import Testing

/// `kelvin publish`.
@Suite struct PublishTests {
  private let folder = TemporaryFolder()

  private var target: String { "\(folder.path)/public" }
  private var key: String { folder.write((1...32).map { UInt8($0) }, "private.key") }

  private func publish(_ arguments: String...) -> ToolResult {
    Kelvin.run(["publish", Kelvin.digitsPackage, "--to", target] + arguments)
  }

  private func models() throws -> [JSONValue] {
    try #require(
      try JSONValue(String(decoding: TemporaryFolder.read("\(target)/manifest.json"), as: UTF8.self))["models"]?.array)
  }

  @Test func versionsAreAddedToTheFolder() throws {
    let first = publish("--version", "1.2.0", "--tags", "small,vision", "--sign", key)
    #expect(first.status == 0 && first.output.contains("Digits-1.2.0.tar.zst"), "\(first)")
    let second = publish(
      "--version", "1.3.0", "--name", "other", "--archive", "zip", "--sign", key, "--valid-for", "30d",
      "--needs-kelvin", "0.1.0", "--json")
    #expect(second.status == 0, "\(second)")
    let document = try JSONValue(second.output)
    #expect(document["name"]?.text == "other" && document["signed"]?.bool == true)
    let listed = try models()
    #expect(listed.map { $0["name"]?.text } == ["Digits", "other"])
    #expect(listed[0]["tags"]?.array?.compactMap(\.text) == ["small", "vision"])
    #expect(listed[1]["sha256"]?.text == document["sha256"]?.text && listed[1]["kelvin"]?.text == "0.1.0")
    #expect(
      TemporaryFolder.entries(target)
        == ["Digits-1.2.0.tar.zst", "manifest.json", "manifest.json.sig", "other-1.3.0.zip"])
    // A published archive is a model.
    let answer = Kelvin.run("classify", "\(target)/other-1.3.0.zip", Kelvin.image("9_0125.png"), "--units", "cpu")
    #expect(answer.status == 0 && answer.output.contains("nine"), "\(answer)")
  }

  @Test func sameVersionIsPublishedOnce() throws {
    #expect(publish("--version", "1.0.0").status == 0)
    let before = TemporaryFolder.read("\(target)/manifest.json")
    let again = publish("--version", "1.0.0")
    #expect(again.status == 0 && again.output.contains("is published already"), "\(again)")
    #expect(again.errors.contains("not signed"), "\(again)")
    let other = Kelvin.run("publish", Kelvin.digits, "--to", target, "--version", "1.0.0")
    #expect(other.status == 65 && other.errors.contains("other contents") && other.errorLines.count == 1, "\(other)")
    #expect(TemporaryFolder.read("\(target)/manifest.json") == before)
  }

  /// Wrong requests, their exit status and a part of the message.
  private static let refusals: [(arguments: [String], status: Int32, part: String)] = [
    (["--version", "1.2"], 64, "'1.2' is not a version"), (["--version", "1.2.0", "--archive", "rar"], 64, "'rar'"),
    (["--version", "1.2.0", "--name", "a/b"], 65, "'a/b' is not a valid name"),
    (["--version", "1.2.0", "--tags", "a b"], 65, "'a b' is not a valid name"),
    (["--version", "1.2.0", "--sign", "/absent.pem"], 65, "/absent.pem"),
    (["--version", "1.2.0", "--sign", Kelvin.digits], 65, "Ed25519"),
    (["--version", "1.2.0", "--valid-for", "soon"], 64, "'soon'"),
    (["--version=1.2.0", "--unknown"], 64, "--unknown"), (["--version"], 64, "Missing value"), ([], 64, "--version"),
  ]

  @Test(arguments: refusals.indices) func refusesWrongRequests(index: Int) {
    let refusal = Self.refusals[index]
    let result = Kelvin.run(["publish", Kelvin.digitsPackage, "--to", target] + refusal.arguments)
    #expect(result.status == refusal.status && result.errors.contains(refusal.part), "\(result)")
    #expect(result.errorLines.count == 1 && access(target, F_OK) != 0, "\(result)")
  }

  @Test func filesThatAreNotModelsAreRefused() {
    let file = folder.write("no model", "x.onnx")
    let result = Kelvin.run("publish", file, "--to", target, "--version", "1.0.0")
    #expect(result.status == 65 && result.errorLines.count == 1 && access(target, F_OK) != 0, "\(result)")
  }

  @Test func missingLibraryIsNamed() {
    folder.write("no library", "libzstd.so.1")
    let result = Kelvin.run(
      ["publish", Kelvin.digitsPackage, "--to", target, "--version", "1.0.0"],
      environment: ["LD_LIBRARY_PATH": folder.path])
    #expect(result.status == 70 && result.errors.contains("Zstandard"), "\(result)")
    #expect(result.errorLines.count == 1 && access("\(target)/manifest.json", F_OK) != 0, "\(result)")
    // Other kinds of archives do not need it.
    let other = Kelvin.run(
      ["publish", Kelvin.digitsPackage, "--to", target, "--version", "1.0.0", "--archive", "tar.gz"],
      environment: ["LD_LIBRARY_PATH": folder.path])
    #expect(other.status == 0, "\(other)")
  }

  @Test func fullDiskLeavesTheFolderAsItWas() throws {
    #expect(publish("--version", "1.0.0").status == 0)
    let before = TemporaryFolder.entries(target)
    let full = Kelvin.run(
      ["publish", Kelvin.digitsPackage, "--to", target, "--version", "2.0.0"], shell: "ulimit -f 50")
    #expect(full.status == 70 && full.errorLines.count == 1, "\(full)")
    #expect(TemporaryFolder.entries(target) == before)
    #expect(try models().count == 1)
  }

  /// A publisher that is killed leaves a complete state, and the next one removes what is left of it.
  @Test func killedPublisherLeavesACompleteState() throws {
    #expect(publish("--version", "1.0.0", "--sign", key).status == 0)
    for delay in stride(from: 2_000, to: 60_000, by: Tier.isSlow ? 1_000 : 12_000) {
      _ = Kelvin.run(
        ["publish", Kelvin.digitsPackage, "--to", target, "--version", "2.\(delay).0", "--sign", key], killAfter: delay)
      for model in try models() {
        let file = try #require(model["file"]?.text)
        #expect(access("\(target)/\(file)", F_OK) == 0, "\(file)")
      }
    }
    let last = publish("--version", "3.0.0", "--sign", key)
    #expect(last.status == 0, "\(last)")
    let hidden = try #require(TemporaryFolder.entries(target)).filter { $0.hasPrefix(".") }
    #expect(hidden.isEmpty, "\(hidden)")
  }
}
