public import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics

/// A folder of models that were fetched, with several versions of each side by side.
///
/// Any number of processes can use a store at once. Each change is one renaming, so a process that ends at any moment
/// leaves the old state or the new one. ``fetch(_:name:lock:progress:)`` describes what is downloaded.
///
/// ```swift
/// let store = try ModelStore.standard()
/// let fetched = try await store.fetch("https://example.org/Digits.onnx")
/// let model = try await Model.load(contentsOf: fetched.model.url)
/// ```
public struct ModelStore: Sendable {
  /// The folder.
  public var url: URL { URL(filePath: folder.path) }

  let folder: StoreFolder
  let limits: TransferLimits
  /// The variables of the hub; nil for those of the process.
  private let variables: [String: String]?

  /// Opens the store in a folder, which is made when the first model arrives.
  ///
  /// - Parameter url: The folder. It must belong to the user, and nobody else may write to it.
  public init(at url: URL) { self.init(at: url, TransferLimits()) }

  /// - Parameters:
  ///   - limits: The limits of each download.
  ///   - environment: Environment variables in place of those of the process.
  package init(at url: URL, _ limits: TransferLimits, environment: [String: String]? = nil) {
    folder = StoreFolder(url.relativePath)
    self.limits = limits
    variables = environment
  }

  var environment: [String: String] { variables ?? ProcessInfo.processInfo.environment }

  /// Returns the store of the user: `$KELVIN_MODELS_DIR`, or `kelvin/models` under `$XDG_DATA_HOME` or
  /// `~/.local/share`.
  ///
  /// - Throws: `StoreError` with code `io` if none of the variables is set.
  public static func standard() throws(StoreError) -> ModelStore {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(path: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    let path =
      variable("KELVIN_MODELS_DIR") ?? variable("XDG_DATA_HOME").map { "\($0)/kelvin/models" }
      ?? variable("HOME").map { "\($0)/.local/share/kelvin/models" }
    guard let path else {
      throw StoreError(
        .io, "none of KELVIN_MODELS_DIR, XDG_DATA_HOME and HOME names a folder for models; set one of them")
    }
    return ModelStore(at: URL(filePath: path))
  }

  /// Returns all versions of all models, sorted by name, the latest arrival first.
  ///
  /// - Throws: `StoreError` with code `io` if the folder cannot be used.
  public func models() throws(StoreError) -> [StoredModel] {
    guard try folder.check() else { return [] }
    return names.flatMap(versions)
  }

  /// Returns a version of a model.
  ///
  /// - Parameter name: A name, for its current version, or `NAME@VERSION`.
  /// - Throws: `StoreError`: `absent` if the store has no such version, `request` if the name is not valid.
  public func model(_ name: String) throws(StoreError) -> StoredModel {
    let asked = try ModelName(checking: name)
    let known = try folder.check() ? versions(of: asked.name) : []
    if let version = asked.version {
      if let found = known.first(where: { $0.version == version }) { return found }
    } else if let found = known.first(where: \.isCurrent) {
      return found
    }
    guard let latest = known.first else {
      let near = names.filter { !versions(of: $0).isEmpty }.inWords
      throw StoreError(
        .absent,
        "the store '\(folder.path)' has no model '\(asked.name)'"
          + (near.isEmpty ? "; fetch it: kelvin fetch URL" : "; it has \(near)"))
    }
    throw StoreError(
      .absent,
      "the store has no version '\(asked.version ?? "")' of '\(latest.name)'; it has "
        + known.map(\.version).inWords)
  }

  /// Returns the version that a command line names; nil if the string cannot be a name, or the store has no such version.
  ///
  /// - Throws: `StoreError` with code `io` if the folder cannot be trusted.
  package func model(named text: String) throws(StoreError) -> StoredModel? {
    guard let asked = ModelName(text), try folder.check() else { return nil }
    return versions(of: asked.name).first { asked.version == nil ? $0.isCurrent : asked.version == $0.version }
  }

  /// The names of the models, sorted.
  private var names: [String] { StoreFolder.entries(folder.path).filter(ModelName.isValid) }

  /// Returns the versions of a name, the latest arrival first.
  func versions(of name: String) -> [StoredModel] {
    let place = folder.path(name)
    let choices = StoreDocument.read(NameChoices.self, at: "\(place)/\(NameChoices.fileName)") ?? NameChoices()
    let found = StoreFolder.entries(place).filter(ModelName.isValid).compactMap { version in
      VersionRecord(of: "\(place)/\(version)").map { (version, $0) }
    }.sorted { ($0.1.arrival, $0.0) > ($1.1.arrival, $1.0) }
    // A process may have ended between the arrival of the first version and the choice of it.
    let current = found.contains { $0.0 == choices.current } ? choices.current : found.first?.0
    return found.map { version, record in
      let folder = "\(place)/\(version)"
      var status = stat()
      let isUsed = stat("\(folder)/\(StoredModel.useFile)".pathBytes, &status) == 0
      return StoredModel(
        name: name, version: version, url: URL(filePath: "\(folder)/\(record.model)"), source: record.source,
        sha256: record.sha256, byteCount: record.byteCount,
        cacheByteCount: CompiledParts(of: folder).folders.reduce(0) { $0 + StoreFolder.byteCount($1) },
        tags: record.tags,
        arrival: Date(timeIntervalSince1970: record.arrival),
        lastUse: Date(timeIntervalSince1970: isUsed ? status.st_mtim.sinceEpoch : record.arrival),
        isCurrent: version == current, isPinned: choices.pinned.contains(version), folder: folder,
        record: VersionRecordFacts(address: record.address, validators: record.validators, signer: record.signer))
    }
  }

  /// The greatest size in bytes of all versions together, with their parts of the compiled cache; nil without a limit.
  public var quota: Int? {
    StoreDocument.read(StoreSettings.self, at: folder.path(StoreSettings.fileName))?.quota
  }
}

extension timespec {
  fileprivate var sinceEpoch: Double { Double(tv_sec) + Double(tv_nsec) * 1e-9 }
}
