import Glibc
import KelvinBasics

/// A file or folder that is written to an archive.
struct ArchiveSource {
  /// The path in the archive.
  let name: String
  /// The file; nil for a folder.
  let file: OpenFile?

  var byteCount: Int { file?.byteCount ?? 0 }

  /// Returns a file, or a folder and everything below it, in the order of their paths' bytes.
  ///
  /// - Throws: `PackagingError` with code `refused` for a link or a special file below the folder, or `io`.
  static func entries(of path: String) throws(PackagingError) -> [ArchiveSource] {
    var trimmed = path
    while trimmed.utf8.count > 1, trimmed.utf8.last == UInt8(ascii: "/") { trimmed.removeLast() }
    var status = stat()
    guard stat(trimmed.pathBytes, &status) == 0 else {
      throw PackagingError(FileError(path: path, action: "open", code: errno))
    }
    let name = trimmed.lastPathPart
    guard name != ".", name != "..", name != "/" else {
      throw PackagingError(.refused, "'\(path)' has no name that an archive could have; name the folder itself")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      return [ArchiveSource(name: name, file: try opened(trimmed, below: nil))]
    }
    var entries: [ArchiveSource] = []
    try list(trimmed, name, root: trimmed, into: &entries)
    return entries
  }

  private static func list(
    _ path: String, _ name: String, root: String, into entries: inout [ArchiveSource]
  ) throws(PackagingError) {
    entries.append(ArchiveSource(name: "\(name)/", file: nil))
    for each in try names(in: path) {
      let (inner, innerName) = (path.appendingPath(each), "\(name)/\(each)")
      guard each.pathBytes.count == each.utf8.count + 1 else {
        throw PackagingError(.refused, "'\(inner)' has a name that is not valid UTF-8; rename it")
      }
      _ = try EntryName(Array(innerName.utf8), archive: root)
      var status = stat()
      guard lstat(inner.pathBytes, &status) == 0 else {
        throw PackagingError(FileError(path: inner, action: "open", code: errno))
      }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: try list(inner, innerName, root: root, into: &entries)
      case S_IFREG: entries.append(ArchiveSource(name: innerName, file: try opened(inner, below: root)))
      default:
        throw PackagingError(
          .refused, "'\(inner)' is a link or a special file, which an archive cannot have; replace it by a copy")
      }
    }
  }

  private static func names(in path: String) throws(PackagingError) -> [String] {
    guard let stream = opendir(path.pathBytes) else {
      throw PackagingError(FileError(path: path, action: "open", code: errno))
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(pathBytes: $0.prefix { $0 != 0 }) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.exact.sorted().map(\.string)
  }

  private static func opened(_ path: String, below root: String?) throws(PackagingError) -> OpenFile {
    try PackagingError.wrapping { () throws(FileError) in try OpenFile(path, below: root) }
  }

  /// Calls `body` with the file's bytes in pieces.
  func read(_ body: ([UInt8]) throws(PackagingError) -> Void) throws(PackagingError) {
    guard let file else { return }
    var offset = 0
    while offset < file.byteCount {
      let piece = try file.bytes(min(1 << 17, file.byteCount - offset), at: offset)
      try body(piece)
      offset += piece.count
    }
    let state = try PackagingError.wrapping { () throws(FileError) in try file.currentState() }
    guard state == file.state else {
      throw PackagingError(.io, "'\(file.path)' was written to while it was read; try again")
    }
  }
}

extension OpenFile {
  /// Returns bytes of the file, which must have them.
  ///
  /// - Throws: `PackagingError` with code `io`, also if the file has become too short.
  func bytes(_ count: Int, at offset: Int) throws(PackagingError) -> [UInt8] {
    var failure: FileError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
      do throws(FileError) {
        try read(
          into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target).prefix(count)), at: offset
        )
        initialized = count
      } catch { failure = error }
    }
    if let failure { throw PackagingError(failure) }
    return bytes
  }
}
