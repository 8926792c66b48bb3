import FoundationEssentials
import Kelvin
import KelvinBasics

/// Reads and writes the small JSON documents of a store.
enum StoreDocument {
  /// Reads a document.
  ///
  /// - Returns: Nil if it is missing, or was not written by a store.
  static func read<Value: Decodable>(_ type: Value.Type, at path: String) -> Value? {
    (try? LocalFile.read(path)).flatMap { try? JSONText.decode(type, from: $0) }
  }

  /// Makes an empty file.
  static func makeEmpty(_ path: String) throws(StoreError) {
    try StoreError.wrapping { () throws(FileError) in try AtomicFileWriter(path).finish() }
  }

  /// Writes a document in one step.
  static func write(_ value: some Encodable, to path: String) throws(StoreError) {
    let bytes: [UInt8]
    do { bytes = Array(try JSONText.encode(value)) } catch { throw StoreError(.io, "cannot write '\(path)': \(error)") }
    try StoreError.wrapping { () throws(FileError) in
      let file = try AtomicFileWriter(path)
      try file.write(bytes)
      try file.finish()
    }
  }
}

/// The record of a version, in its folder. It never changes.
struct VersionRecord: Codable {
  static let fileName = ".record.json"
  private static let format = "kelvin-stored-model"

  private var format = Self.format
  private var version = 1
  /// The path of the model below the folder.
  let model: String
  /// The URL that the model came from, without secrets.
  let source: String
  /// The SHA-256 of the whole URL.
  let address: String
  /// The SHA-256 of the download.
  let sha256: String
  /// The size of the files.
  let byteCount: Int
  let tags: [String]
  /// The time of arrival in seconds since 1970.
  let arrival: Double
  let validators: Validators
  /// The SHA-256 of the public key that verified the manifest; nil if none was given.
  let signer: String?

  init(
    model: String, from address: ModelAddress, sha256: String, byteCount: Int, tags: [String], arrival: Double,
    validators: Validators, signer: String?
  ) {
    (source, self.address) = (address.source, address.identity)
    (self.model, self.sha256, self.byteCount) = (model, sha256, byteCount)
    (self.tags, self.arrival, self.validators, self.signer) = (tags, arrival, validators, signer)
  }

  /// Reads the record of a version's folder; nil if it has none.
  init?(of folder: String) {
    guard let record = StoreDocument.read(Self.self, at: "\(folder)/\(Self.fileName)"), record.format == Self.format,
      record.version == 1, record.model.staysInside
    else { return nil }
    self = record
  }
}

/// The choices for a name, in its folder.
struct NameChoices: Codable {
  static let fileName = ".choices.json"

  /// The version that the name stands for.
  var current: String?
  /// The versions that the name stood for before, the latest first.
  var earlier: [String] = []
  var pinned: [String] = []

  /// Makes a version the current one.
  mutating func choose(_ version: String) {
    guard current != version else { return }
    earlier.removeAll { $0 == version || $0 == current }
    if let current { earlier.insert(current, at: 0) }
    current = version
  }

  /// Forgets a version.
  mutating func forget(_ version: String) {
    earlier.removeAll { $0 == version }
    pinned.removeAll { $0 == version }
    if current == version { current = earlier.isEmpty ? nil : earlier.removeFirst() }
  }
}

/// The parts of the compiled cache that belong to a version, in its folder: the packed weights that loading it has made.
struct CompiledParts: Codable {
  static let fileName = ".compiled.json"

  private struct Part: Codable, Hashable {
    /// The folder of the cache.
    var cache: String
    /// The key of the model's contents.
    var key: String
  }

  private var parts: [Part] = []

  /// Reads the parts of a version's folder.
  init(of folder: String) {
    self = StoreDocument.read(Self.self, at: "\(folder)/\(Self.fileName)") ?? CompiledParts()
  }

  private init() {}

  /// Adds a part.
  ///
  /// - Returns: False if it is known.
  mutating func add(cache: String, key: String) -> Bool {
    let part = Part(cache: cache, key: key)
    guard !parts.contains(part) else { return false }
    parts.append(part)
    return true
  }

  /// The paths of the folders in the cache.
  var folders: [String] {
    parts.filter { $0.cache.isRootedPath && ModelAddress.isDigest($0.key) }.map { "\($0.cache)/models/\($0.key)" }
  }
}

/// The settings of a store.
struct StoreSettings: Codable {
  static let fileName = ".settings.json"

  /// The greatest size of all versions together in bytes.
  var quota: Int?
}
