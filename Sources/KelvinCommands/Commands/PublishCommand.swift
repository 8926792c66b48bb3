import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinPackaging

struct PublishCommand: ParsableCommand, LimitedCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish", abstract: "Add a version of a model to a folder for a web server.",
    usage: "kelvin publish [<options>] <model> --to <folder> --version <version>",
    discussion: """
      Example: kelvin publish Digits.mlpackage --to public --version 1.2.0 --sign private.pem

      The folder gets an archive of the model, a manifest.json that lists all versions, and with --sign the \
      signatures manifest.json.sig. Versions that it has are kept, and the same version with other contents is \
      refused. Make a key with: openssl genpkey -algorithm ed25519 -out private.pem
      """)

  @Argument(help: "An .mlpackage or .mlmodelc folder, or an .mlmodel, .onnx or .kelvinmodel file.")
  var model: String

  @Option(help: ArgumentHelp("The folder to publish in, which is created if it is missing.", valueName: "folder"))
  var to: String

  @Option(
    name: [.customLong("version"), .customLong(modelVersion)],
    help: ArgumentHelp("The version of the model: 1.2.0, or 1.2.0-beta.1.", valueName: "version"),
    transform: Self.version)
  var version: SemanticVersion

  @Option(help: ArgumentHelp("The name of the model. (default: the name of its file)", valueName: "name"))
  var name: String?

  @Option(
    help: ArgumentHelp("Names of groups that the model belongs to, separated by commas.", valueName: "a,b"))
  var tags: String?

  @Option(
    help: ArgumentHelp("Sign the manifest with this Ed25519 key: a PEM file, or 32 bytes.", valueName: "file"))
  var sign: String?

  @Option(
    help: ArgumentHelp(
      "The kind of archive: \(Archive.endings.joined(separator: ", ")). (default: \(Archive.endings[0]))",
      valueName: "kind"),
    transform: Self.archive)
  var archive: String = Archive.endings[0]

  @Option(
    help: ArgumentHelp("The first version of Kelvin that can use the model.", valueName: "version"),
    transform: Self.version)
  var needsKelvin: SemanticVersion?

  @Option(
    help: ArgumentHelp(
      "The manifest is refused after this time, so that an old one does not pass for the newest: 30d.",
      valueName: "time"), transform: TimeSpan.seconds)
  var validFor: Double?

  @OptionGroup var links: LinksOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  private static let modelVersion = "model-version"

  /// Returns the arguments of the program with the other name of `--version` for this command. If a command line is
  /// wrong, the parser takes `--version` as the request for the version of Kelvin, and hides the error.
  static func renamingVersion(_ arguments: [String]) -> [String] {
    guard arguments.first == configuration.commandName else { return arguments }
    return arguments.map { argument in
      argument == "--version" || argument.hasPrefix("--version=")
        ? "--\(modelVersion)\(argument.dropFirst("--version".count))" : argument
    }
  }

  private static func version(_ text: String) throws -> SemanticVersion {
    guard let version = SemanticVersion(text) else {
      throw ValidationError("'\(text)' is not a version; use three numbers such as 1.2.0, or 1.2.0-beta.1")
    }
    return version
  }

  private static func archive(_ text: String) throws -> String {
    guard Archive.endings.contains(text) else {
      throw ValidationError("'\(text)' is not a kind of archive; use \(Archive.endings.joined(separator: ", "))")
    }
    return text
  }

  func run() throws {
    // A file that is not a model is refused. An encrypted one is published without its key.
    if !EncryptedModels.recognizes(model) {
      _ = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: links.allowLinks)
    }
    var release = Publisher.Release(model: model, name: name ?? model.pathStem, version: version)
    release.tags = tags.map { $0.split(separator: ",").map(String.init) } ?? []
    release.archive = archive
    release.kelvin = needsKelvin
    let key = try sign.map { [UInt8](try LocalFile.read($0)) }
    let publisher = try Publisher(folder: to, key: key)
    let outcome = try Progress.during("publishing") { try publisher.publish(release, validFor: validFor) }
    if output.json { return try printJSON(document(outcome)) }
    let archive = "'\(to.appendingPath(outcome.model.file))', \(HumanReadable.bytes(outcome.model.bytes))"
    Console.print(
      outcome.wasPublished
        ? "'\(outcome.model.name)' \(version) is published already: \(archive)"
        : "published '\(outcome.model.name)' \(version): \(archive)")
    if !outcome.isSigned { Console.note("the manifest is not signed; --sign signs it") }
  }

  private func document(_ outcome: Publisher.Outcome) -> JSONObject {
    [
      "name": outcome.model.name, "version": version.description, "archive": to.appendingPath(outcome.model.file),
      "bytes": outcome.model.bytes, "sha256": outcome.model.sha256, "signed": outcome.isSigned,
      "wasPublished": outcome.wasPublished,
    ]
  }
}
