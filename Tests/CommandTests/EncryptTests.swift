import Glibc
import TestSupport
import Testing

/// `kelvin encrypt`, and commands that load an encrypted model.
@Suite struct EncryptTests {
  private let folder = TemporaryFolder()

  private var copy: String { "\(folder.path)/copy.kelvinmodel" }
  private var key: String { "\(folder.path)/secret.key" }

  private func encrypt() -> ToolResult {
    Kelvin.run("encrypt", Kelvin.digitsPackage, copy, "--generate-key", key)
  }

  private func digits() -> String { String(decoding: TemporaryFolder.read(key), as: UTF8.self) }

  @Test func encryptedModelRunsWithItsKey() {
    let made = encrypt()
    #expect(made.status == 0 && made.output.contains("copy.kelvinmodel"), "\(made)")
    var status = stat()
    #expect(stat(key, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let image = Kelvin.image("9_0125.png")
    let classify = ["classify", copy, image, "--units", "cpu"]
    let results = [
      Kelvin.run(classify + ["--key-file", key]),
      Kelvin.run(classify + ["--key-fd", "3"], shell: "exec 3< '\(key)'"),
      Kelvin.run(classify + ["--key-env", "MODEL_KEY"], environment: ["MODEL_KEY": digits()]),
    ]
    let plain = Kelvin.run("classify", Kelvin.digitsPackage, image, "--units", "cpu")
    for result in results { #expect(result.status == 0 && result.output == plain.output, "\(result)") }
    for command in [["inspect", copy], ["plan", copy, "--units", "cpu"], ["generate", copy]] {
      let result = Kelvin.run(command + ["--key-file", key])
      #expect(result.status == 0, "\(command): \(result)")
    }
  }

  @Test func nothingIsStored() {
    #expect(encrypt().status == 0)
    let cache = "\(folder.path)/cache"
    let classify = ["classify", copy, Kelvin.image("9_0125.png"), "--units", "cpu", "--cache-dir", cache]
    let result = Kelvin.run(classify + ["--key-file", key], environment: ["HOME": folder.path])
    #expect(result.status == 0 && access(cache, F_OK) != 0, "\(result)")
    #expect(TemporaryFolder.entries(folder.path) == ["copy.kelvinmodel", "secret.key"])
  }

  @Test func keysThatDoNotMatchAreErrors() {
    #expect(encrypt().status == 0)
    let wrong = folder.write(String(repeating: "a1", count: 32), "wrong.key")
    let short = folder.write("a1", "short.key")
    let classify = ["classify", copy, Kelvin.image("9_0125.png"), "--units", "cpu"]
    for (arguments, status, part) in [
      ([], 65 as Int32, "is an encrypted model; give its key"), (["--key-file", wrong], 65, "the key does not match"),
      (["--key-file", short], 65, "expected a key of 32 bytes"), (["--key-file", "/absent"], 65, "/absent"),
      (["--key-env", "ABSENT_KEY"], 65, "no variable 'ABSENT_KEY'"), (["--key-fd", "77"], 65, "file descriptor 77"),
      (["--key-fd=-1"], 64, "not a file descriptor"), (["--key-file", wrong, "--key-env", "X"], 64, "not several"),
      (["--key-file", key, "--isolate"], 65, "isolat"),
    ] {
      let result = Kelvin.run(classify + arguments)
      #expect(result.status == status && result.errors.contains(part), "\(arguments): \(result)")
      #expect(result.errorLines.count == 1, "\(arguments): \(result)")
    }
    let measured = Kelvin.run("profile", copy, "--units", "cpu", "--key-file", key)
    #expect(measured.status == 65 && measured.errors.contains("measure the original model"), "\(measured)")
    // A variable that was not named is not read.
    let named = Kelvin.run(classify, environment: ["KELVIN_MODEL_KEY": digits()])
    #expect(named.status == 65 && named.errors.contains("give its key"), "\(named)")
  }

  @Test func wrongRequestsAreRefused() {
    let key = folder.write(String(repeating: "a1", count: 32), "given.key")
    for (arguments, status, part) in [
      ([Kelvin.digitsPackage, copy], 64 as Int32, "--generate-key"),
      ([Kelvin.digitsPackage, copy, "--key-file", key, "--generate-key", self.key], 64, "give no other"),
      ([Kelvin.digitsPackage, copy, "--generate-key", key], 65, "given.key"),
      ([key, copy, "--generate-key", self.key], 65, "given.key"),
      (["/absent.onnx", copy, "--key-file", key], 65, "/absent.onnx"),
      ([Kelvin.digits, "/proc/none/copy", "--key-file", key], 65, "/proc/none/copy"),
    ] {
      let result = Kelvin.run(["encrypt"] + arguments)
      #expect(result.status == status && result.errors.contains(part), "\(arguments): \(result)")
      #expect(result.errorLines.count == 1, "\(arguments): \(result)")
      #expect(TemporaryFolder.entries(folder.path) == ["given.key"], "\(arguments)")
    }
    folder.write("mine", "copy.kelvinmodel")
    let existing = Kelvin.run("encrypt", Kelvin.digits, copy, "--key-file", key)
    #expect(existing.status == 65 && TemporaryFolder.read(copy) == Array("mine".utf8), "\(existing)")
  }

  @Test func encryptedModelIsPublishedWithoutItsKey() throws {
    #expect(encrypt().status == 0)
    let target = "\(folder.path)/public"
    let result = Kelvin.run("publish", copy, "--to", target, "--version", "1.0.0", "--json")
    #expect(result.status == 0, "\(result)")
    #expect(try JSONValue(result.output)["name"]?.text == "copy")
  }
}
