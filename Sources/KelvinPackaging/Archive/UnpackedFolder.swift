import Glibc
import Kelvin
import KelvinBasics

/// The folder that an archive is unpacked into. It counts entries and bytes against the limits.
///
/// The folder is empty at first and gets no links, so that a path below it leads to a file of this archive.
final class UnpackedFolder {
  private struct Node {
    let isFolder: Bool
    /// Whether the archive has an entry for it; a parent folder may have none.
    var isListed: Bool
    let exact: ExactString
  }

  /// The name of the archive in errors.
  let archive: String
  private let path: String
  private let archiveBytes: Int
  private let limits: ArchiveLimits
  private let existed: Bool
  private var (entryCount, byteCount) = (0, 0)
  /// The files and folders by their paths. Strings are equal here if they differ only in Unicode normalization, as on
  /// some file systems.
  private var nodes: [String: Node] = [:]

  /// Creates the folder, or takes an empty one.
  init(
    _ path: String, of archive: String, archiveBytes: Int, _ limits: ArchiveLimits
  ) throws(PackagingError) {
    (self.path, self.archive, self.archiveBytes, self.limits) = (path, archive, archiveBytes, limits)
    if mkdir(path.pathBytes, 0o755) == 0 {
      existed = false
      return
    }
    guard errno == EEXIST else { throw PackagingError(FileError(path: path, action: "create", code: errno)) }
    existed = true
    guard let stream = opendir(path.pathBytes) else {
      throw PackagingError(FileError(path: path, action: "unpack to", code: errno))
    }
    defer { closedir(stream) }
    var count = 0
    while readdir(stream) != nil { count += 1 }
    // Every folder has the entries "." and "..".
    guard count <= 2 else { throw PackagingError(FileError(path: path, action: "unpack to", code: ENOTEMPTY)) }
  }

  /// Counts bytes that were decompressed.
  ///
  /// - Throws: `PackagingError` with code `refused` beyond a limit.
  func count(bytes: Int) throws(PackagingError) {
    byteCount += bytes
    guard byteCount <= limits.bytes else {
      throw .refused(archive, "it unpacks to more than \(HumanReadable.bytes(limits.bytes))")
    }
    guard byteCount <= limits.freeBytes || byteCount / limits.ratio <= archiveBytes else {
      throw .refused(
        archive,
        "it unpacks from \(HumanReadable.bytes(archiveBytes)) to more than \(limits.ratio) times its size")
    }
  }

  /// Counts an entry.
  ///
  /// - Throws: `PackagingError` with code `refused` beyond the limit.
  func countEntry() throws(PackagingError) {
    entryCount += 1
    guard entryCount <= limits.entries else {
      throw .refused(archive, "it has more than \(limits.entries) files and folders")
    }
  }

  /// Creates a folder for an entry.
  func makeFolder(_ name: EntryName) throws(PackagingError) {
    for count in 1...name.parts.count {
      try makeFolder(name.parts.prefix(count).joined(separator: "/"), isListed: count == name.parts.count)
    }
  }

  private func makeFolder(_ path: String, isListed: Bool) throws(PackagingError) {
    if let known = nodes[path] {
      guard known.isFolder, known.exact == ExactString(path), !(isListed && known.isListed) else {
        throw repeated(path)
      }
      if isListed { nodes[path]?.isListed = true }
      return
    }
    // Parent folders without entries count too: they take room on the disk.
    if !isListed { try countEntry() }
    nodes[path] = Node(isFolder: true, isListed: isListed, exact: ExactString(path))
    guard mkdir(full(path).pathBytes, 0o755) == 0 else { throw failed(path, errno) }
  }

  /// Creates a file for an entry, and its parent folders. `write` is called with a function that appends bytes to the
  /// file.
  func makeFile(
    _ name: EntryName,
    _ write: ((UnsafeRawBufferPointer) throws(PackagingError) -> Void) throws(PackagingError) -> Void
  ) throws(PackagingError) {
    for count in 1..<name.parts.count {
      try makeFolder(name.parts.prefix(count).joined(separator: "/"), isListed: false)
    }
    let path = name.path
    guard nodes[path] == nil else { throw repeated(path) }
    nodes[path] = Node(isFolder: false, isListed: true, exact: ExactString(path))
    let descriptor = open(full(path).pathBytes, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failed(path, errno) }
    var isOpen = true
    defer { if isOpen { close(descriptor) } }
    try write { (bytes) throws(PackagingError) in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw self.failed(path, count == 0 ? ENOSPC : errno) }
        done += count
      }
    }
    isOpen = false
    guard close(descriptor) == 0 else { throw failed(path, errno) }
  }

  /// Waits until the files are on the disk. Called once for all of them, because an archive that is refused may have many.
  func synchronize() throws(PackagingError) {
    for (path, node) in nodes where !node.isFolder {
      let descriptor = open(full(path).pathBytes, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { throw failed(path, errno) }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 || errno == EINVAL else { throw failed(path, errno) }
    }
  }

  /// Removes everything that was unpacked.
  func removeAll() {
    for name in nodes.values.map(\.exact.string) where !name.utf8.contains(UInt8(ascii: "/")) {
      LocalFile.removeFolder(full(name))
    }
    if !existed { rmdir(path.pathBytes) }
  }

  private func full(_ relative: String) -> String { path.appendingPath(relative) }

  private func failed(_ relative: String, _ code: Int32) -> PackagingError {
    PackagingError(FileError(path: full(relative), action: "write", code: code))
  }

  private func repeated(_ path: String) -> PackagingError {
    .refused(archive, "it has the path twice, or in two Unicode forms", entry: ExactString(path).escaped)
  }
}
