package import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinFeatures
import KelvinImport

/// Publishes models in a folder that a static web server shows: archives, `manifest.json`, and `manifest.json.sig` if
/// the manifest is signed.
///
/// A reader that takes the manifest and then its signatures sees a state that is complete: an archive is written before
/// the manifest that names it, and the signature of a new manifest, with that of the old one, before the manifest.
package struct Publisher {
  package static let (manifestName, signatureName) = ("manifest.json", "manifest.json.sig")

  /// One version to publish.
  package struct Release: Sendable {
    /// The model: a file, or a folder such as an `.mlpackage`.
    package var model: String
    package var name: String
    package var version: SemanticVersion
    package var tags: [String] = []
    /// The first version of Kelvin that can use the model; nil for any.
    package var kelvin: SemanticVersion?
    /// The kind of archive: `tar.zst`, `tar.gz` or `zip`.
    package var archive = Archive.endings[0]

    package init(model: String, name: String, version: SemanticVersion) {
      (self.model, self.name, self.version) = (model, name, version)
    }
  }

  /// The published version.
  package struct Outcome: Sendable {
    package let model: Manifest.Model
    /// Whether the folder already had the version with the same contents.
    package let wasPublished: Bool
    package let isSigned: Bool
  }

  private let folder: String
  private let privateKey: [UInt8]?

  /// - Parameters:
  ///   - folder: the folder to publish in, which is created if it is missing.
  ///   - key: the contents of the file of the private key; nil to sign nothing.
  /// - Throws: `PackagingError` with code `key`.
  package init(folder: String, key: [UInt8]?) throws(PackagingError) {
    self.folder = folder
    if let key { privateKey = try SigningKeys.privateKey(key) } else { privateKey = nil }
  }

  /// Adds a version to the folder. Versions that the folder has are kept.
  ///
  /// - Parameters:
  ///   - validFor: seconds after which the manifest is not valid; nil to leave the time as it is, at first for ever.
  ///   - now: the date of publication.
  /// - Throws: `PackagingError`: `exists` if the folder has the version with other contents, `signature` if the folder
  ///   has a manifest that is signed by another key, or that is signed while this publisher has no key, `expired` if the
  ///   manifest has expired and `validFor` is nil, and the errors of `Archive.write`. The published state is then
  ///   unchanged.
  package func publish(
    _ release: Release, validFor: Double? = nil, now: Date = Date()
  ) throws(PackagingError) -> Outcome {
    try check(release)
    do throws(ModelError) { try LocalFile.makeFolder(folder) } catch { throw PackagingError(.io, error.description) }
    let lock = try FolderLock(folder)
    defer { lock.unlock() }
    let old = try Self.contents(folder.appendingPath(Self.manifestName))
    var manifest = Manifest()
    if let old {
      try checkSignature(of: old)
      manifest = try Manifest.read(old, at: nil)
    }
    let file = "\(release.name)-\(release.version).\(release.archive)"
    removeLeftovers()
    let made = folder.appendingPath("\(Self.unfinished)\(file)")
    defer { unlink(made.pathBytes) }
    try Archive.write(release.model, to: made)
    let (digest, byteCount) = try Self.digest(made)
    if let known = manifest.models.first(where: { $0.name == release.name && $0.version == release.version }) {
      guard known.sha256 == digest else {
        throw PackagingError(
          .exists,
          "'\(folder)' has '\(release.name)' \(release.version) with other contents; raise the version, because readers "
            + "keep the contents of a version")
      }
      return Outcome(model: known, wasPublished: true, isSigned: privateKey != nil)
    }
    if let other = manifest.models.first(where: { $0.file == file }) {
      throw PackagingError(
        .exists, "'\(file)' is the archive of '\(other.name)' \(other.version); use another name or version")
    }
    let model = Manifest.Model(
      name: release.name, version: release.version, file: file, sha256: digest, bytes: byteCount, tags: release.tags,
      kelvin: release.kelvin, date: now.formatted(.iso8601))
    manifest.add(model)
    if let validFor { manifest.expires = now.addingTimeInterval(validFor) }
    if let end = manifest.expires, now >= end {
      throw PackagingError(
        .expired,
        "the manifest in '\(folder)' was valid until \(end.formatted(.iso8601)), and no reader would accept the new one; "
          + "give a new time with --valid-for")
    }
    guard rename(made.pathBytes, folder.appendingPath(file).pathBytes) == 0 else {
      throw PackagingError(FileError(path: folder.appendingPath(file), action: "write", code: errno))
    }
    try write(try manifest.document(), replacing: old)
    return Outcome(model: model, wasPublished: false, isSigned: privateKey != nil)
  }

  private func check(_ release: Release) throws(PackagingError) {
    for name in [release.name] + release.tags where !Manifest.Model.isName(name) {
      throw PackagingError(.refused, "'\(name)' is not a valid name: \(Manifest.Model.nameRule)")
    }
    guard Archive.endings.contains(release.archive) else {
      throw PackagingError(
        .unsupported,
        "'\(release.archive)' is not a kind of archive; expected \(Archive.endings.joined(separator: ", "))")
    }
  }

  /// The manifest in the folder must be signed by this publisher's key, so that entries of others are not signed too.
  private func checkSignature(of manifest: [UInt8]) throws(PackagingError) {
    guard let bytes = try Self.contents(folder.appendingPath(Self.signatureName)) else { return }
    guard let privateKey else {
      throw PackagingError(.signature, "the manifest in '\(folder)' is signed; give its key with --sign")
    }
    try ManifestSignatures(bytes).verify(manifest, key: try SigningKeys.publicKey(of: privateKey))
  }

  /// The beginning of the names of archives that are being written.
  private static let unfinished = ".unfinished-"

  /// Removes the archives of publishers that were killed. The lock is held.
  private func removeLeftovers() {
    guard let stream = opendir(folder.pathBytes) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(pathBytes: $0.prefix { $0 != 0 }) }
      let isManifest = name.hasPrefix(Self.manifestName) && name.contains(".writing-")
      if name.hasPrefix(Self.unfinished) || isManifest { unlink(folder.appendingPath(name).pathBytes) }
    }
  }

  private func write(_ document: [UInt8], replacing old: [UInt8]?) throws(PackagingError) {
    if let privateKey {
      var signatures = try SigningKeys.sign(document, with: privateKey)
      if let old { signatures += try SigningKeys.sign(old, with: privateKey) }
      try Self.write(signatures, to: folder.appendingPath(Self.signatureName))
    }
    try Self.write(document, to: folder.appendingPath(Self.manifestName))
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(PackagingError) {
    try PackagingError.wrapping { () throws(FileError) in
      let file = try AtomicFileWriter(path)
      try file.write(bytes)
      try file.finish()
    }
  }

  /// Returns the bytes of a small file; nil if it does not exist.
  private static func contents(_ path: String) throws(PackagingError) -> [UInt8]? {
    guard FileKind(path) != .absent else { return nil }
    let file = try PackagingError.wrapping { () throws(FileError) in try OpenFile(path) }
    guard file.byteCount <= Manifest.largest else {
      throw PackagingError(.refused, "'\(path)' has \(HumanReadable.bytes(file.byteCount)), too much for a manifest")
    }
    return try file.bytes(file.byteCount, at: 0)
  }

  private static func digest(_ path: String) throws(PackagingError) -> (text: String, byteCount: Int) {
    let file = try PackagingError.wrapping { () throws(FileError) in try OpenFile(path) }
    return (try FileDigest.sha256(of: file), file.byteCount)
  }
}

/// A lock of a folder among the processes that publish in it. The system releases it with the process.
private struct FolderLock {
  private let descriptor: Int32

  /// Waits until the lock is free.
  init(_ folder: String) throws(PackagingError) {
    descriptor = open(folder.pathBytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw PackagingError(FileError(path: folder, action: "open", code: errno)) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let code = errno
        close(descriptor)
        throw PackagingError(FileError(path: folder, action: "lock", code: code))
      }
    }
  }

  func unlock() { close(descriptor) }
}
