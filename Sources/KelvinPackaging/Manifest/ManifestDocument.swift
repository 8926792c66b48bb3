import FoundationEssentials
import Glibc
import KelvinBasics

/// The JSON document of a manifest. Keys that this version does not know are ignored.
struct ManifestDocument: Codable {
  static let format = "kelvin-models"
  static let version = 1

  struct Entry: Codable {
    let name: String
    let version: String
    let file: String
    let sha256: String
    let bytes: Int
    let tags: [String]?
    let kelvin: String?
    let date: String?
  }

  let format: String
  let version: Int
  let models: [Entry]
  let expires: String?

  /// The members that tell documents apart, read before all others.
  private struct Head: Decodable {
    let format: String?
    let version: Int?
  }

  static func read(_ bytes: [UInt8]) throws(PackagingError) -> Manifest {
    guard bytes.count <= Manifest.largest else {
      throw PackagingError(
        .refused,
        "the manifest has \(HumanReadable.bytes(bytes.count)), at most \(HumanReadable.bytes(Manifest.largest)) are read"
      )
    }
    let (data, head) = (Data(bytes), try decode(Head.self, bytes))
    guard head.format == format else {
      let found = head.format.map { "'\($0)'" } ?? "none"
      throw PackagingError(.malformed, "expected a manifest with the format '\(format)', found \(found)")
    }
    guard head.version == version else {
      throw PackagingError(
        .unsupported,
        "the manifest has the version \(head.version.map(String.init) ?? "none"), expected \(version); update Kelvin")
    }
    return try decode(Self.self, [UInt8](data)).manifest()
  }

  private static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(PackagingError) -> Value {
    do { return try JSONText.decode(type, from: Data(bytes)) } catch {
      throw PackagingError(.malformed, "the manifest is not valid JSON of its format: \(error.placed)")
    }
  }

  private func manifest() throws(PackagingError) -> Manifest {
    var manifest = Manifest()
    var places: Set<Place> = []
    for (index, entry) in models.enumerated() {
      let model = try entry.model(at: index)
      guard places.insert(Place(name: model.name, version: model.version)).inserted else {
        throw PackagingError(.malformed, "the manifest has '\(model.name)' \(model.version) twice")
      }
      manifest.models.append(model)
    }
    manifest.models.sort { $0.precedes($1) }
    if let expires {
      guard let date = try? Date(expires, strategy: .iso8601) else {
        throw PackagingError(
          .malformed, "the manifest expires at '\(expires)', expected a date such as 2026-03-14T15:09:00Z")
      }
      manifest.expires = date
    }
    return manifest
  }

  private struct Place: Hashable {
    let name: String
    let version: SemanticVersion
  }
}

extension Manifest {
  /// The manifest as a document. Equal manifests give equal bytes.
  func document() throws(PackagingError) -> [UInt8] {
    let document = ManifestDocument(
      format: ManifestDocument.format, version: ManifestDocument.version,
      models: models.map {
        ManifestDocument.Entry(
          name: $0.name, version: $0.version.description, file: $0.file, sha256: $0.sha256, bytes: $0.bytes,
          tags: $0.tags.nonEmpty, kelvin: $0.kelvin?.description, date: $0.date)
      }, expires: expires?.formatted(.iso8601))
    do { return [UInt8](try JSONText.encode(document)) + [0x0A] } catch {
      throw PackagingError(.malformed, "the manifest cannot be written: \(error)")
    }
  }

  /// Adds a model, which must not be listed yet.
  mutating func add(_ model: Model) {
    models.append(model)
    models.sort { $0.precedes($1) }
  }
}

extension Manifest.Model {
  fileprivate func precedes(_ other: Self) -> Bool { (name, version) < (other.name, other.version) }

  /// The largest archive that a manifest may list, in bytes.
  fileprivate static let largest = 1 << 50

  /// Whether a string is a valid name of a model or tag: up to 64 ASCII letters, digits, dots, hyphens and underscores.
  /// The first is a letter or digit, and no two dots follow each other.
  package static func isName(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard (1...64).contains(bytes.count), isLetterOrDigit(bytes[0]), bytes.last != UInt8(ascii: ".") else {
      return false
    }
    return bytes.allSatisfy { isLetterOrDigit($0) || ".-_".utf8.contains($0) } && !text.contains("..")
  }

  /// The rule of names, for messages.
  package static let nameRule = "at most 64 of A–Z a–z 0–9 . _ -, first a letter or digit, without two dots in a row"

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  /// Whether a path stays in the manifest's folder, as a path and as a relative URL.
  fileprivate static func isFile(_ text: String) -> Bool {
    text.utf8.count <= 512 && !text.utf8.isEmpty
      && text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
        isLetterOrDigit(part.first ?? 0) && part.allSatisfy { isLetterOrDigit($0) || "._-+~@".utf8.contains($0) }
      }
  }
}

extension ManifestDocument.Entry {
  private typealias Model = Manifest.Model

  fileprivate func model(at index: Int) throws(PackagingError) -> Manifest.Model {
    func refused(_ member: String, _ value: String, _ expected: String) -> PackagingError {
      PackagingError(
        .malformed,
        "model \(index) of the manifest has the \(member) '\(value.truncatedInMiddle(to: 80))', expected \(expected)")
    }
    guard Model.isName(name) else { throw refused("name", name, Model.nameRule) }
    guard let version = SemanticVersion(version) else { throw refused("version", self.version, "one such as 1.2.0") }
    guard Model.isFile(file) else {
      throw refused(
        "file", file, "a relative path of letters, digits and . _ - + ~ @ that begin with a letter or digit")
    }
    guard sha256.utf8.count == 64, sha256.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
      throw refused("sha256", sha256, "64 lower-case hexadecimal digits")
    }
    guard (1...Model.largest).contains(bytes) else { throw refused("bytes", "\(bytes)", "1 to \(Model.largest)") }
    if let tag = tags?.first(where: { !Model.isName($0) }) { throw refused("tag", tag, Model.nameRule) }
    let least = kelvin.flatMap(SemanticVersion.init)
    if let kelvin, least == nil { throw refused("Kelvin version", kelvin, "one such as 1.2.0") }
    if let date, (try? Date(date, strategy: .iso8601)) == nil {
      throw refused("date", date, "one such as 2026-03-14T15:09:00Z")
    }
    return Model(
      name: name, version: version, file: file, sha256: sha256, bytes: bytes, tags: tags ?? [], kelvin: least,
      date: date)
  }
}

extension Error {
  /// The description, and for a document the path of the wrong value.
  fileprivate var placed: String {
    guard let error = self as? DecodingError else { return "\(self)" }
    let context: DecodingError.Context? =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context
      @unknown default: nil
      }
    guard let context else { return "\(self)" }
    let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return path.isEmpty
      ? context.debugDescription : "\(path.dropFirst(path.hasPrefix(".") ? 1 : 0)): \(context.debugDescription)"
  }
}
