import ArgumentParser
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinPackaging

struct EncryptCommand: ParsableCommand, LimitedCommand {
  static let configuration = CommandConfiguration(
    commandName: "encrypt", abstract: "Write an encrypted copy of a model.",
    usage: "kelvin encrypt [<options>] <model> <copy>",
    discussion: """
      Example: kelvin encrypt Digits.mlpackage Digits.kelvinmodel --generate-key secret.key

      Commands take the copy as a model if they get the key: kelvin classify Digits.kelvinmodel seven.png --key-file \
      secret.key. They decrypt it into memory and store nothing of it on the disk, so that each start compiles the \
      model again. SECURITY.md says whom encryption keeps out.
      """)

  @Argument(help: "An .mlpackage folder, or an .mlmodel or .onnx file.")
  var model: String

  @Argument(help: "The .kelvinmodel file to write, which must not exist.")
  var copy: String

  @Option(
    help: ArgumentHelp(
      "Make a new key, and write it to this file, which must not exist and only you can read.", valueName: "file"))
  var generateKey: String?

  @OptionGroup var key: KeyOptions
  @OptionGroup var links: LinksOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard key.isGiven != (generateKey != nil) else {
      throw ValidationError(
        key.isGiven
          ? "--generate-key makes a key; give no other"
          : "give the key with --key-file, --key-fd or --key-env, or make one with --generate-key")
    }
  }

  func run() throws {
    guard access(copy.pathBytes, F_OK) != 0 else {
      throw InputError("'\(copy)' exists; delete it, or name another copy")
    }
    let key = try generateKey == nil ? key.key() : ModelKey.random()
    if let generateKey { try key.write(to: generateKey) }
    let byteCount: Int
    do {
      byteCount = try Progress.during("encrypting") {
        try ModelEncryption.encrypt(model, to: copy, key: key, allowsLinks: links.allowLinks)
      }
    } catch {
      // A key that encrypts nothing is of no use.
      if let generateKey { unlink(generateKey.pathBytes) }
      throw error
    }
    if output.json { return try printJSON(["copy": copy, "bytes": byteCount, "key": generateKey] as JSONObject) }
    Console.print("wrote '\(copy)', \(HumanReadable.bytes(byteCount))")
    if let generateKey { Console.print("the key is in '\(generateKey)'; without it the copy cannot be read") }
  }
}
