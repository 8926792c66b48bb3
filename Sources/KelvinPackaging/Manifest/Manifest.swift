package import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinFeatures

/// The list of models that a publisher's folder has. See docs/design/packaging.md for the document.
package struct Manifest: Sendable {
  /// One version of a model.
  package struct Model: Hashable, Sendable {
    package let name: String
    package let version: SemanticVersion
    /// The path of the archive, relative to the manifest. It stays in the manifest's folder and needs no escapes in a
    /// URL.
    package let file: String
    /// The SHA-256 digest of the archive, in 64 lower-case hexadecimal digits.
    package let sha256: String
    /// The size of the archive.
    package let bytes: Int
    package let tags: [String]
    /// The first version of Kelvin that can use the model; nil for any.
    package let kelvin: SemanticVersion?
    /// The date of publication in UTC: `2026-03-14T15:09:00Z`; nil if it is not stated.
    package let date: String?
  }

  /// The models, sorted by name and then by version.
  package internal(set) var models: [Model]
  /// The time from which the manifest is not valid; nil for never.
  package internal(set) var expires: Date?

  /// The largest manifest that is read, in bytes.
  package static let largest = 16 << 20

  init() { (models, expires) = ([], nil) }

  /// Reads a manifest. The bytes must have been verified if a signature is expected.
  ///
  /// - Parameter now: the time that `expires` is compared with; nil to accept an expired manifest.
  /// - Throws: `PackagingError` with code `malformed`, `unsupported` for a later format, or `expired`.
  package static func read(_ bytes: [UInt8], at now: Date? = Date()) throws(PackagingError) -> Manifest {
    let manifest = try ManifestDocument.read(bytes)
    if let now, let end = manifest.expires, now >= end {
      throw PackagingError(
        .expired,
        "the manifest was valid until \(end.formatted(.iso8601)), and the clock of this machine shows "
          + "\(now.formatted(.iso8601)); set the clock if it is wrong, or ask the publisher for a new manifest")
    }
    return manifest
  }

  /// Returns a version of a model: the named one, or the newest release that this version of Kelvin can use. A
  /// pre-release is chosen only by its name, or if the model has no release.
  ///
  /// - Throws: `PackagingError` with code `absent`, or `unsupported` if the model needs a later version of Kelvin.
  package func model(_ name: String, version: String? = nil) throws(PackagingError) -> Model {
    let known = models.filter { $0.name == name }
    guard !known.isEmpty else {
      let names = Set(models.map(\.name)).sorted()
      let near = name.nearest(of: names).map { "; did you mean '\($0)'?" }
      let listed = names.isEmpty ? "none" : names.prefix(8).joined(separator: ", ")
      throw PackagingError(.absent, "the manifest has no model '\(name)', its models: \(listed)\(near ?? "")")
    }
    if let version {
      guard let wanted = SemanticVersion(version), let found = known.first(where: { $0.version == wanted }) else {
        let listed = known.suffix(8).map(\.version.description).joined(separator: ", ")
        throw PackagingError(.absent, "'\(name)' has no version '\(version)'; its versions: \(listed)")
      }
      guard found.isUsable else { throw found.needsLaterKelvin }
      return found
    }
    let usable = known.filter(\.isUsable)
    guard let newest = usable.last(where: { !$0.version.isPrerelease }) ?? usable.last else {
      throw known[known.count - 1].needsLaterKelvin
    }
    return newest
  }

  /// Verifies the bytes of a manifest.
  ///
  /// - Parameters:
  ///   - signature: the contents of `manifest.json.sig`: up to eight Ed25519 signatures of 64 bytes, the newest first.
  ///     One of them must belong to the bytes, so that a manifest and its signatures can be replaced one after the other.
  ///   - key: the publisher's public key: 32 bytes, or the contents of a key file.
  /// - Throws: `PackagingError` with code `signature`, or `key` for a key that is not valid.
  package static func verify(_ bytes: [UInt8], signature: [UInt8], key: [UInt8]) throws(PackagingError) {
    try ManifestSignatures(signature).verify(bytes, key: try SigningKeys.publicKey(key))
  }
}

extension Manifest.Model {
  /// Whether this version of Kelvin can use the model.
  fileprivate var isUsable: Bool {
    guard let kelvin, let here = SemanticVersion(kelvinVersion) else { return true }
    return kelvin <= here
  }

  fileprivate var needsLaterKelvin: PackagingError {
    PackagingError(
      .unsupported,
      "'\(name)' \(version) needs Kelvin \(kelvin?.description ?? "—") or later, this is \(kelvinVersion); update Kelvin"
    )
  }
}
