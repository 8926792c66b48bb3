import Dispatch
import FaultyServer
import Glibc
import Synchronization
import TestSupport
import Testing

/// `kelvin fetch`, `kelvin models`, and names of the store in other commands.
@Suite(.enabled(if: FaultyServer.isAvailable, "\(FaultyServer.reason)"))
struct FetchTests {
  private let server = FaultyServer()
  private let folder = TemporaryFolder()
  private var store: String { "\(folder.path)/models" }

  init() {
    let digits = TemporaryFolder.read(Kelvin.digits)
    server.folder.write(digits, "Digits.onnx")
    server.folder.write(digits + [0x12, 3] + Array("new".utf8), "Other.onnx")
  }

  private func kelvin(
    _ arguments: [String], environment: [String: String] = [:], shell: String? = nil, killAfter: Int? = nil
  ) -> ToolResult {
    let own = ["KELVIN_MODELS_DIR": store, "KELVIN_CACHE_DIR": "\(folder.path)/cache"]
    return Kelvin.run(
      arguments, environment: own.merging(environment) { _, new in new }, shell: shell, killAfter: killAfter)
  }

  private func models() throws -> [JSONValue] {
    try #require(try JSONValue(kelvin(["models", "--json"]).output)["models"]?.array)
  }

  @Test func fetchedModelIsCompiledAndRunsByItsName() throws {
    let fetch = kelvin(["fetch", server.url("plain/Digits.onnx"), "--units", "cpu"])
    #expect(fetch.status == 0 && fetch.output.hasPrefix("fetched: Digits@"), "\(fetch)")
    #expect(fetch.output.contains("compiled") && fetch.errors.isEmpty)
    let before = try models()
    #expect(before.count == 1 && before[0]["current"]?.bool == true)
    #expect(try #require(before[0]["cacheBytes"]?.number) > 300_000)
    server.stop()
    let answer = kelvin(["classify", "Digits", Kelvin.image("9_0125.png"), "--units", "cpu", "--json"])
    #expect(answer.status == 0 && answer.output.contains("\"nine\""), "\(answer)")
    let version = try #require(before[0]["version"]?.text)
    let inspected = kelvin(["inspect", "Digits@\(version)"])
    #expect(inspected.status == 0, "\(inspected)")
    #expect(try #require(try models()[0]["lastUse"]?.number) > #require(before[0]["lastUse"]?.number))
    let again = kelvin(["fetch", server.url("plain/Digits.onnx")])
    #expect(again.status == 0 && again.output.hasPrefix("in the store: ") && again.errors.contains("cannot reach"))
    let list = kelvin(["models"], environment: ["COLUMNS": "80"])
    #expect(list.output.contains("current") && list.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func modelRunsFromItsURL() throws {
    let url = server.url("plain/Digits.onnx")
    let arguments = [Kelvin.image("9_0125.png"), "--units", "cpu", "--json"]
    let answer = kelvin(["classify", url] + arguments)
    #expect(answer.status == 0 && answer.output.contains("\"nine\""), "\(answer)")
    let hash = try #require(try models().first?["sha256"]?.text)
    server.stop()
    let again = kelvin(["classify", "\(url)#sha256=\(hash)"] + arguments)
    #expect(again.status == 0 && again.output == answer.output && again.errors.isEmpty, "\(again)")
    let wrong = kelvin(["classify", "\(url)#sha256=\(String(repeating: "0", count: 64))"] + arguments)
    #expect(wrong.status != 0 && wrong.status != 64 && wrong.errorLines.count == 1, "\(wrong)")
  }

  @Test func encryptedModelArrivesWithoutItsKey() throws {
    let key = "\(folder.path)/secret.key"
    let copy = "\(server.folder.path)/Digits.kelvinmodel"
    #expect(Kelvin.run("encrypt", Kelvin.digits, copy, "--generate-key", key).status == 0)
    let fetch = kelvin(["fetch", server.url("plain/Digits.kelvinmodel")])
    #expect(fetch.status == 0 && fetch.errors.contains("is encrypted"), "\(fetch)")
    let classify = ["classify", "Digits", Kelvin.image("9_0125.png"), "--units", "cpu"]
    let answer = kelvin(classify + ["--key-file", key])
    #expect(answer.status == 0 && answer.output.contains("nine"), "\(answer)")
    #expect(kelvin(classify).status != 0)
  }

  @Test func fileHasPrecedenceOverANameOfTheStore() {
    _ = kelvin(["fetch", server.url("plain/Digits.onnx"), "--no-compile", "--name", "notes"])
    let path = folder.write("no model", "notes")
    let result = kelvin(["inspect", "notes"], shell: "cd '\(folder.path)'")
    #expect(result.status == 65 && result.errors.contains("notes"), "\(path): \(result)")
    #expect(kelvin(["inspect", "notes"], shell: "cd /").status == 0)
  }

  @Test func versionsAreChosenPinnedAndRemoved() throws {
    for file in ["Digits", "Other"] {
      let name = "Digits@\(file == "Digits" ? "1" : "2")"
      let fetch = kelvin(["fetch", server.url("plain/\(file).onnx"), "--name", name, "--no-compile"])
      #expect(fetch.status == 0, "\(fetch)")
    }
    func current() throws -> String? { try models().first { $0["current"]?.bool == true }?["version"]?.text }
    #expect(try current() == "2")
    #expect(kelvin(["models", "--roll-back", "Digits"]).status == 0)
    #expect(try current() == "1")
    #expect(kelvin(["models", "--use", "Digits@2", "--pin", "Digits@1"]).status == 0)
    #expect(try current() == "2")
    let pinned = kelvin(["models", "--remove", "Digits@1"])
    #expect(pinned.status == 65 && pinned.errorLines.count == 1 && pinned.errors.contains("--unpin"), "\(pinned)")
    let evicted = kelvin(["models", "--unpin", "Digits@1", "--quota", "400kB"])
    #expect(evicted.status == 0 && evicted.errors.contains("removed Digits@1"), "\(evicted)")
    #expect(kelvin(["models", "--remove", "Digits", "--quota", "none"]).status == 0)
    #expect(try models().isEmpty)
  }

  @Test(arguments: ["zip", "tar.gz"], [true, false])
  func archiveOfAPackageIsUnpacked(ending: String, hasFolder: Bool) throws {
    let archive = "\(server.folder.path)/package.\(ending)"
    if ending == "zip" {
      var file = ZIPFile()
      for path in TemporaryFolder.files(Kelvin.digitsPackage) {
        let name = (hasFolder ? "Digits.mlpackage/" : "") + path.dropFirst(Kelvin.digitsPackage.count + 1)
        file.add(name, TemporaryFolder.read(path), deflated: true)
      }
      server.folder.write(file.bytes, "package.zip")
    } else {
      let tar = "exec tar -czf \"$1\" -C \"$2\" \"$3\""
      let arguments = hasFolder ? ["\(Kelvin.root)/Examples/Digits", "Digits.mlpackage"] : [Kelvin.digitsPackage, "."]
      #expect(Kelvin.run([archive] + arguments, script: tar).status == 0)
    }
    let fetch = kelvin(["fetch", server.url("plain/package.\(ending)"), "--name", "Digits", "--no-compile"])
    #expect(fetch.status == 0, "\(fetch)")
    #expect(try models()[0]["path"]?.text?.hasSuffix("/Digits.mlpackage") == true)
    let answer = kelvin(["classify", "Digits", Kelvin.image("9_0125.png"), "--units", "cpu", "--json"])
    #expect(answer.status == 0 && answer.output.contains("\"nine\""), "\(answer)")
  }

  @Test func archiveThatLeavesItsFolderIsRefused() throws {
    var file = ZIPFile()
    file.add("../../Digits.onnx", TemporaryFolder.read(Kelvin.digits))
    server.folder.write(file.bytes, "climbing.zip")
    let result = kelvin(["fetch", server.url("plain/climbing.zip")])
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
    #expect(try models().isEmpty && leftovers().isEmpty, "\(leftovers())")
  }

  @Test(.enabled(if: access("/usr/bin/openssl", X_OK) == 0, "needs the openssl program, which makes a certificate"))
  func certificatesAreCheckedAndTheConnectionStaysEncrypted() throws {
    let secure = FaultyServer(isEncrypted: true)
    secure.folder.write(TemporaryFolder.read(Kelvin.digits), "Digits.onnx")
    let untrusted = kelvin(["fetch", secure.url("plain/Digits.onnx"), "--no-compile"])
    #expect(untrusted.status == 65 && untrusted.errors.contains("no trusted connection"), "\(untrusted)")
    let environment = ["SSL_CERT_FILE": secure.certificate]
    let down = kelvin(
      ["fetch", secure.url("redirect?to=\(server.url("plain/Digits.onnx"))"), "--no-compile"], environment: environment)
    #expect(down.status == 65 && down.errors.contains("is not followed") && server.requests.isEmpty, "\(down)")
    let up = kelvin(
      ["fetch", server.url("redirect?to=\(secure.url("plain/Digits.onnx"))"), "--no-compile", "--name", "Digits"],
      environment: environment)
    #expect(up.status == 0, "\(up)")
  }

  @Test func proxyOfTheEnvironmentIsUsed() {
    let result = kelvin(
      ["fetch", "http://models.invalid/plain/Digits.onnx", "--no-compile"],
      environment: ["http_proxy": "http://127.0.0.1:\(server.port)"])
    #expect(result.status == 0 && server.requests.map(\.host) == ["models.invalid"], "\(result)")
  }

  @Test func twoProcessesShareADownload() throws {
    _ = kelvin(["fetch", server.url("plain/Digits.onnx"), "--no-compile", "--name", "First"])
    let digest = try #require(try models()[0]["sha256"]?.text)
    let results = Mutex<[ToolResult]>([])
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      let result = kelvin(["fetch", server.url("slow/Digits.onnx?pause=0.02#sha256=\(digest)"), "--no-compile"])
      results.withLock { $0.append(result) }
    }
    let both = results.withLock { $0 }
    #expect(both.map(\.status) == [0, 0], "\(both)")
    #expect(Set(both.map { $0.output.prefix(7) }) == ["fetched", "in the "])
    #expect(server.requests.count { $0.path == "/slow/Digits.onnx" } == 1)
  }

  @Test func fullDiskIsOneErrorAndTheRestIsFetchedLater() {
    let full = kelvin(["fetch", server.url("plain/Digits.onnx"), "--no-compile"], shell: "ulimit -f 200")
    #expect(full.status == 70 && full.errorLines.count == 1, "\(full)")
    let later = kelvin(["fetch", server.url("plain/Digits.onnx"), "--no-compile"])
    #expect(later.status == 0, "\(later)")
    #expect(server.requests.last?.range != nil)
  }

  @Test func missingLibraryNamesItsPackage() {
    // A library of the name that cannot be opened, found before the system's.
    folder.write("", "libraries/libcurl.so.4")
    folder.write("", "libraries/libcurl-gnutls.so.4")
    let result = kelvin(
      ["fetch", server.url("plain/Digits.onnx")], environment: ["LD_LIBRARY_PATH": "\(folder.path)/libraries"])
    #expect(result.status == 70 && result.errorLines.count == 1 && result.errors.contains("libcurl.so.4"), "\(result)")
  }

  /// Wrong requests, their exit status and a part of the message.
  private static let refusals: [(arguments: [String], status: Int32, part: String)] = [
    ([], 64, "give a URL"), (["Digits"], 64, "is not a URL"), (["Digits", "--key", "x"], 64, "--key needs --from"),
    (["--tags", "a"], 64, "give a URL"),
    (["Digits", "--tags", "a", "--from", "http://127.0.0.1"], 64, "either a name"),
    (["Digits", "--name", "x", "--from", "http://127.0.0.1"], 64, "--name and --lock"),
    (["Digits", "--from", "http://127.0.0.1:1/m.json"], 65, "cannot reach"),
    (["http://127.0.0.1:1/x", "--name", "a/b"], 64, "'a/b' is not the name of a model"),
    (["Digits", "--from", "http://127.0.0.1:1", "--key", "/absent"], 65, "/absent"),
  ]

  @Test(arguments: refusals.indices) func refusesWrongRequests(index: Int) {
    let refusal = Self.refusals[index]
    let result = kelvin(["fetch"] + refusal.arguments)
    #expect(result.status == refusal.status && result.errors.contains(refusal.part), "\(result)")
    #expect(result.errorLines.count == 1, "\(result)")
  }

  @Test func namesThatAreUnknownAreErrors() {
    for arguments in [
      ["--use", "Absent@1"], ["--roll-back", "Absent"], ["--pin", "Absent"], ["--remove", "Absent"],
    ] {
      let result = kelvin(["models"] + arguments)
      #expect(result.status == 65 && result.errorLines.count == 1 && result.errors.contains("'Absent'"), "\(result)")
    }
    #expect(kelvin(["models", "--quota", "much"]).status == 64)
    let run = kelvin(["inspect", "Absent"])
    #expect(run.status == 65 && run.errorLines.count == 1, "\(run)")
  }

  @Test func storeThatOthersCanWriteToIsNotUsed() {
    _ = kelvin(["fetch", server.url("plain/Digits.onnx"), "--no-compile"])
    chmod(store, 0o777)
    let result = kelvin(["inspect", "Digits"])
    #expect(result.status == 65 && result.errors.contains("cannot trust '\(store)'"), "\(result)")
    #expect(kelvin(["models"]).status == 65)
  }

  // MARK: Processes that are killed

  /// Runs a command that is killed at some moment, and then checks the store.
  private func kill(_ arguments: [String], after microseconds: Int) throws {
    _ = kelvin(arguments, killAfter: microseconds)
    let state = kelvin(["models", "--json"])
    #expect(state.status == 0, "after \(microseconds) microseconds: \(state)")
    for model in try #require(try JSONValue(state.output)["models"]?.array) {
      let path = try #require(model["path"]?.text)
      let expected = try #require(model["bytes"]?.number)
      #expect(TemporaryFolder.read(path).count == Int(expected), "after \(microseconds) microseconds")
    }
  }

  /// The files below the store that do not belong to a complete version.
  private func leftovers() -> [String] {
    TemporaryFolder.files(store).filter { file in
      [".arriving-", ".removed-", ".writing-", ".part"].contains { file.contains($0) }
    }
  }

  @Test func killedFetchLeavesTheOldStateOrTheNewOne() throws {
    for attempt in 0..<Tier.trials(4, of: 100) {
      // From before the connection until after the installation.
      let delay = 3000 + attempt * 48_611 % 170_000
      try kill(["fetch", server.url("slow/Digits.onnx"), "--name", "Digits@\(attempt)", "--no-compile"], after: delay)
      #expect(try models().count(where: { $0["current"]?.bool == true }) <= 1)
    }
    let end = kelvin(["fetch", server.url("slow/Digits.onnx"), "--name", "Digits@end", "--no-compile"])
    #expect(end.status == 0, "\(end)")
    #expect(try models().first { $0["current"]?.bool == true }?["version"]?.text == "end")
    #expect(leftovers().isEmpty, "\(leftovers())")
  }

  @Test func killedSwitchesAndRemovalsLeaveTheOldStateOrTheNewOne() throws {
    let address = "file://\(server.folder.path)/Digits.onnx"
    for version in ["1", "2"] {
      #expect(kelvin(["fetch", address, "--name", "Digits@\(version)", "--no-compile"]).status == 0)
    }
    for attempt in 0..<Tier.trials(4, of: 50) {
      try kill(["models", "--use", "Digits@\(1 + attempt % 2)"], after: 2000 + attempt * 1789 % 20_000)
      #expect(try models().count(where: { $0["current"]?.bool == true }) == 1)
      #expect(try models().count == 2)
    }
    for attempt in 0..<Tier.trials(4, of: 50) {
      try kill(["models", "--remove", "Digits@1"], after: 2000 + attempt * 1789 % 20_000)
      let versions = try models().compactMap { $0["version"]?.text }
      #expect(versions == ["2"] || versions.sorted() == ["1", "2"])
      _ = kelvin(["fetch", address, "--name", "Digits@1", "--no-compile"])
    }
    #expect(kelvin(["models", "--pin", "Digits@1"]).status == 0)
    #expect(try models().count == 2 && leftovers().isEmpty, "\(leftovers())")
  }
}
