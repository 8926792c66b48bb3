import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinPackaging
import KelvinStore

struct FetchCommand: ParsableCommand, LimitedCommand, IsolatedCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Download a model into the store, check it, and compile it for this machine.",
    usage: """
      kelvin fetch [<options>] <url>
      kelvin fetch [<options>] <name> --from <url>
      """,
    discussion: """
      Example: kelvin fetch 'https://example.org/Digits.onnx#sha256=…', then kelvin classify Digits seven.png

      A URL is https:, http:, file: or hf://OWNER/NAME/FILE@REVISION, a file of the Hugging Face hub (HF_ENDPOINT, \
      HF_TOKEN). #sha256= and 64 hexadecimal digits demand these contents. The file is a model, or an archive of a \
      package: zip, tar.gz, tar.zst. Proxies are taken from the environment.

      With --from, NAME or NAME@VERSION is a model of a manifest, which 'kelvin publish' writes.

      The store is $KELVIN_MODELS_DIR or ~/.local/share/kelvin/models. Versions that it has are not downloaded \
      again, and a download that broke off is resumed. Every command that takes a model takes a name of the store.
      """)

  @Argument(help: ArgumentHelp("A URL, or with --from the name of a model: NAME or NAME@VERSION.", valueName: "model"))
  var model: String?

  @Option(help: ArgumentHelp("The manifest that lists the model.", valueName: "url"))
  var from: String?

  @Option(
    help: ArgumentHelp("The file of the public key (Ed25519) that must have signed the manifest.", valueName: "file"))
  var key: String?

  @Option(
    help: ArgumentHelp("Fetch the models of the manifest that have one of these tags: a,b.", valueName: "tags"),
    transform: { $0.split(separator: ",").map(String.init) })
  var tags: [String]?

  @Option(
    help: ArgumentHelp(
      "The name in the store, NAME or NAME@VERSION. (default: that of the file; the beginning of its SHA-256)",
      valueName: "name"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "A file that keeps the SHA-256 of each URL: the first fetch adds it, later ones demand it.", valueName: "file"))
  var lock: String?

  @Flag(help: "Do not compile the model.")
  var noCompile = false

  @OptionGroup var units: UnitsOption
  @OptionGroup var isolation: IsolationOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if from == nil {
      guard model != nil else { throw ValidationError("give a URL, or a name and --from URL") }
      if key != nil { throw ValidationError("--key needs --from, the manifest that the key has signed") }
      if tags != nil { throw ValidationError("--tags needs --from, the manifest that has the tags") }
    } else {
      guard (model == nil) != (tags == nil) else { throw ValidationError("with --from give either a name or --tags") }
      if name != nil || lock != nil { throw ValidationError("--name and --lock belong to a URL, not to --from") }
    }
  }

  func run() throws {
    let store = try ModelStore.standard()
    var fetched = try download(store)
    fetched.flatMap(\.remarks).forEach(Console.note)
    if !noCompile {
      for index in fetched.indices { try compile(&fetched[index], store) }
    }
    if output.json { return try printJSON(fetched.map { $0.model.document.extended($0.isNew) }) }
    Console.print(
      lines: fetched.map { fetched in
        let model = fetched.model
        let cache = model.cacheByteCount > 0 ? ", \(HumanReadable.bytes(model.cacheByteCount)) compiled" : ""
        return "\(fetched.isNew ? "fetched" : "in the store"): \(model.name)@\(model.version), "
          + "\(HumanReadable.bytes(model.byteCount))\(cache)\(model.isCurrent ? "" : ", not current")"
      })
  }

  private func download(_ store: ModelStore) throws -> [FetchedModel] {
    let progress = Progress("fetching")
    defer { progress.finish() }
    let key = try key.map { try LocalFile.read($0) }
    let show = { @Sendable (state: FetchProgress) in progress.update(state) }
    return try Interrupts.cancelling { [model, from, tags, name, lock] in
      if let from, let tags { return try await store.request(tags: Set(tags), from: from, key: key, progress: show) }
      if let from { return [try await store.fetch(model ?? "", from: from, key: key, progress: show)] }
      let lock = lock.map { URL(filePath: $0) }
      return [try await store.fetch(model ?? "", name: name, lock: lock, progress: show)]
    }
  }

  /// Compiles a model that has arrived. The store keeps it where that fails.
  private func compile(_ fetched: inout FetchedModel, _ store: ModelStore) throws {
    guard !EncryptedModels.recognizes(fetched.model.url.relativePath) else {
      return Console.note("'\(fetched.model.name)' is encrypted; each start compiles it again")
    }
    let configuration = ModelConfiguration(computeUnits: units.units)
    let progress = Progress("compiling")
    defer { progress.finish() }
    let (model, remarks) = try Interrupts.cancelling { [fetched] in
      try await store.compile(fetched.model, configuration: configuration) { progress.update($0) }
    }
    remarks.forEach(Console.note)
    fetched = FetchedModel(model: model, isNew: fetched.isNew, remarks: fetched.remarks)
  }
}

extension Progress {
  func update(_ state: FetchProgress) {
    let rate = state.bytesPerSecond.map { ", \(HumanReadable.bytes(Int($0)))/s" } ?? ""
    update(
      state.fractionCompleted, HumanReadable.bytes(state.receivedByteCount) + rate, secondsLeft: state.secondsLeft)
  }
}
