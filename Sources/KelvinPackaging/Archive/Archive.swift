import Kelvin
import KelvinBasics
import KelvinImport

/// Archives of models: ZIP, and tar that is plain or compressed by gzip or Zstandard.
package enum Archive {
  /// Returns whether a file begins as an archive does, whatever its name. False if it cannot be read.
  package static func recognizes(_ path: String) -> Bool {
    guard let file = try? OpenFile(path), let start = try? file.start(TarHeader.byteCount) else { return false }
    return ArchiveKind(recognizing: start) != nil
  }

  /// Unpacks an archive. Its contents are untrusted: no entry leaves the folder, and links, devices and unknown kinds of
  /// entries are refused. Memory does not grow with the archive.
  ///
  /// - Parameters:
  ///   - path: the archive.
  ///   - folder: an empty folder, or a path where nothing is yet. If unpacking fails, nothing is left in it.
  ///   - limits: the largest contents that are unpacked.
  /// - Throws: `PackagingError`: `malformed` for a damaged archive, `refused` for one that exceeds a limit or could
  ///   harm, `unsupported`, `libraryMissing`, `io` or `noSpace`.
  package static func unpack(
    _ path: String, into folder: String, limits: ArchiveLimits = .standard
  ) throws(PackagingError) {
    let file = try PackagingError.wrapping { () throws(FileError) in try OpenFile(path) }
    let start = try PackagingError.wrapping { () throws(FileError) in try file.start(TarHeader.byteCount) }
    guard let kind = ArchiveKind(recognizing: start) else {
      throw PackagingError(
        .unsupported, "'\(path)' is not an archive; expected a .zip, .tar, .tar.gz or .tar.zst file")
    }
    let target = try UnpackedFolder(folder, of: path, archiveBytes: file.byteCount, limits)
    do throws(PackagingError) {
      switch kind {
      case .zip: try ZipReader(file).unpack(into: target)
      case .tar(let codec): try TarReader(file, codec).unpack(into: target)
      }
      try target.synchronize()
    } catch {
      target.removeAll()
      throw error
    }
  }

  /// Writes an archive of a file or a folder, whose name is the first component of each path in it. Equal contents give
  /// equal bytes: names are sorted, and times and owners are fixed.
  ///
  /// - Parameters:
  ///   - source: a file, or a folder such as an `.mlpackage`, without links in it.
  ///   - path: the archive to write, whose ending chooses the kind: `.zip`, `.tar.gz` or `.tar.zst`. It appears when it
  ///     is complete.
  /// - Throws: `PackagingError`: `refused` for a link or a special file, `unsupported` for another ending,
  ///   `libraryMissing`, `io` or `noSpace`.
  package static func write(_ source: String, to path: String) throws(PackagingError) {
    guard let kind = ArchiveKind.written.first(where: { path.hasExtension($0.ending) })?.kind else {
      throw PackagingError(
        .unsupported, "'\(path)' does not name a kind of archive; expected .tar.zst, .tar.gz or .zip")
    }
    let entries = try ArchiveSource.entries(of: source)
    let file = try PackagingError.wrapping { () throws(FileError) in try AtomicFileWriter(path) }
    defer { file.abandon() }
    switch kind {
    case .zip: try ZipWriter.write(entries, to: file, path: path)
    case .tar(let codec): try TarWriter.write(entries, to: EncodedStream(file, codec ?? .gzip, path: path))
    }
    try PackagingError.wrapping { () throws(FileError) in try file.finish() }
  }
}

extension Archive {
  /// The endings of the archives that are written, the default first.
  package static let endings = ArchiveKind.written.map(\.ending)
}

/// The kind of an archive.
enum ArchiveKind: Equatable {
  case zip
  /// A tar file, compressed by a codec; nil for none.
  case tar(StreamCodec?)

  /// The kinds that are written, by the endings of their files.
  static let written: [(ending: String, kind: ArchiveKind)] = [
    ("tar.zst", .tar(.zstd)), ("tar.gz", .tar(.gzip)), ("zip", .zip),
  ]

  /// Determines the kind by the first bytes, at least 512 if the file has as many; nil for another file.
  init?(recognizing start: [UInt8]) {
    if start.starts(with: [0x50, 0x4B, 0x03, 0x04]) || start.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
      self = .zip
    } else if start.starts(with: [0x1F, 0x8B, 0x08]) {
      self = .tar(.gzip)
    } else if start.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
      self = .tar(.zstd)
    } else if TarHeader.recognizes(start) {
      self = .tar(nil)
    } else {
      return nil
    }
  }
}
