import KelvinFeatures

/// The description of the model and settings in an index.
package struct IndexFacts: Hashable, Sendable {
  /// The display name of the model.
  package var modelName: String
  /// The path of the model at the time of indexing.
  package var modelPath: String
  /// A digest of everything that determines the answers, including the model's contents. Indexes of different
  /// identities are not compatible.
  package var identity: String
  /// The settings, by name, for loading the model again with `--like`.
  package var settings: [String: String]
  /// The number of elements of an image's vector; 0 where the model has none.
  package var dimensions: Int

  package init(modelName: String, modelPath: String, identity: String, settings: [String: String], dimensions: Int) {
    self.modelName = modelName
    self.modelPath = modelPath
    self.identity = identity
    self.settings = settings
    self.dimensions = dimensions
  }

  private static let settingPrefix = "setting."
  /// SQLite's limit for a vector (untrusted_sqlite.c) allows no more.
  private static let mostDimensions = 1 << 24

  /// Reads the description.
  ///
  /// - Throws: `absent` where the index has never been filled.
  init(_ database: Database) throws(PhotoIndexError) {
    guard let stored = try Self.stored(in: database) else {
      throw PhotoIndexError(.absent, "'\(database.path)' holds no images yet; add them with 'kelvin index'")
    }
    self = stored
  }

  /// Reads the description; nil where the index has never been filled.
  static func stored(in database: Database) throws(PhotoIndexError) -> IndexFacts? {
    var values: [String: String] = [:]
    let rows = try database.prepare("SELECT name, value FROM facts")
    while try rows.step() { values[try rows.name(0)] = rows.text(1) }
    guard let identity = values["identity"] else { return nil }
    let dimensions = values["dimensions"].flatMap { Int($0) } ?? 0
    guard 0...mostDimensions ~= dimensions else { throw database.damaged("vectors have \(dimensions) numbers") }
    let settings = values.filter { $0.key.hasPrefix(settingPrefix) }
    return IndexFacts(
      modelName: values["model"] ?? "", modelPath: values["model_path"] ?? "", identity: identity,
      settings: Dictionary(uniqueKeysWithValues: settings.map { (String($0.dropFirst(settingPrefix.count)), $1) }),
      dimensions: dimensions)
  }

  func store(in database: Database) throws(PhotoIndexError) {
    var values = [
      "model": modelName, "model_path": modelPath, "identity": identity, "dimensions": "\(dimensions)",
    ]
    for (name, value) in settings { values[Self.settingPrefix + name] = value }
    try database.run("DELETE FROM facts")
    let insert = try database.prepare("INSERT INTO facts VALUES (?, ?)")
    for (name, value) in values { try insert.run(.text(name), .text(value)) }
  }
}
