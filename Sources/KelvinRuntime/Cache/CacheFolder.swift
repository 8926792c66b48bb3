import Glibc
import KelvinBasics
import KelvinGraph
import Synchronization

/// The cache's folder, held open. Files in it are reached only from this descriptor; links in it are not followed,
/// and files or folders of other users are not opened.
///
/// Names are paths below the folder. Every error contains the whole path and the system's reason.
final class CacheFolder: Sendable {
  let path: String
  let trust = CacheTrust()
  let calls: FileSystemCalls
  /// The secret that was read last and the state of its file.
  let knownSecret = Mutex<(secret: CacheSecret, state: FileState)?>(nil)
  private let descriptor: Int32
  /// The prefix of temporary file names.
  static let temporaryPrefix = ".writing-"

  /// Opens the folder, and creates it if it is missing and `creates` is set.
  init(_ path: String, creates: Bool, calls: FileSystemCalls) throws(FileError) {
    self.path = path
    self.calls = calls
    var place = try trust.place(of: path)
    // Another user may have put a link into the path meanwhile: check the created path again.
    if creates, try Self.make(place, calls) { place = try trust.place(of: place) }
    let folder = Glibc.open(place.pathBytes, Self.folderFlags)
    guard folder >= 0 else { throw FileError(path: path, action: "open", code: errno) }
    do throws(FileError) { _ = try Self.check(folder, path, trust, calls) } catch {
      Glibc.close(folder)
      throw error
    }
    // Assigned last: a completely initialized object would close the descriptor a second time in `deinit`.
    descriptor = folder
  }

  deinit { Glibc.close(descriptor) }

  /// Whether the folder has been removed since it was opened.
  var isGone: Bool {
    var status = stat()
    return fstat(descriptor, &status) != 0 || status.st_nlink == 0
  }

  /// Returns a file's contents. Map files that are read later; the reader of a mapping checks afterwards whether the
  /// file has changed.
  func read(_ name: String, isMapped: Bool) throws(FileError) -> Bytes {
    try inFolder(of: name, creates: false) { (folder, last) throws(FileError) in
      let file = try openForReading(last, in: folder, name).file
      return try isMapped ? Bytes(mapping: file) : Bytes(reading: file)
    }
  }

  /// - Returns: the file and its status.
  func openForReading(_ last: String, in folder: Int32, _ name: String) throws(FileError) -> (file: OpenFile, stat) {
    let file = openat(folder, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    let status = try check(opened: file, last, in: folder, name)
    return (try OpenFile(descriptor: file, path: "\(path)/\(name)"), status)
  }

  /// Returns the status of a file; nil if it cannot be examined.
  func status(_ name: String) -> stat? {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
  }

  /// A complete and synced file under a temporary name.
  struct Draft {
    fileprivate let name, temporary: String
  }

  /// Writes a file in one step: under a temporary name, synced and renamed.
  func replace(_ name: String, _ parts: [UnsafeRawBufferPointer]) throws(FileError) {
    try put(draft(name, parts))
  }

  /// Writes a file under a temporary name, for `put` or `discard`.
  func draft(_ name: String, _ parts: [UnsafeRawBufferPointer]) throws(FileError) -> Draft {
    try inFolder(of: name, creates: true) { (folder, _) throws(FileError) in
      var written = ""
      try writeBeside(name, parts, in: folder) { (temporary, _) throws(FileError) in written = temporary }
      return Draft(name: name, temporary: written)
    }
  }

  /// Renames a draft to its final name. If that fails, the draft is removed.
  func put(_ draft: Draft) throws(FileError) {
    try inFolder(of: draft.name, creates: false) { (folder, last) throws(FileError) in
      guard calls.rename(folder, draft.temporary, last) == 0 else {
        let failure = failure("write", draft.name)
        _ = calls.remove(folder, draft.temporary)
        throw failure
      }
      // The rename has succeeded, even if the folder cannot be synced.
      _ = calls.sync(folder)
    }
  }

  func discard(_ draft: Draft) {
    try? inFolder(of: draft.name, creates: false) { (folder, _) throws(FileError) in
      _ = calls.remove(folder, draft.temporary)
    }
  }

  /// Writes a file under a temporary name and syncs it.
  ///
  /// - Parameter place: renames the complete file; receives its temporary name and status. If it throws, the file is
  ///   removed.
  func writeBeside(
    _ name: String, _ parts: [UnsafeRawBufferPointer], in folder: Int32,
    place: (_ temporary: String, stat) throws(FileError) -> Void
  ) throws(FileError) {
    let temporary = "\(Self.temporaryPrefix)\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    let file = calls.open(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { throw failure("write", name) }
    var failure: FileError?
    var status = stat()
    do throws(FileError) {
      try write(parts, to: file, name)
      guard calls.examine(file, &status) == 0 else { throw self.failure("examine", name) }
    } catch { failure = error }
    if calls.close(file) != 0, failure == nil { failure = self.failure("write", name) }
    if failure == nil { do throws(FileError) { try place(temporary, status) } catch { failure = error } }
    if let failure {
      _ = calls.remove(folder, temporary)
      throw failure
    }
  }

  private func write(_ parts: [UnsafeRawBufferPointer], to file: Int32, _ name: String) throws(FileError) {
    for part in parts {
      var rest = part[...]
      while !rest.isEmpty {
        let count = calls.write(file, UnsafeRawBufferPointer(rebasing: rest))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          if count == 0 { errno = ENOSPC }
          throw failure("write", name)
        }
        rest = rest.dropFirst(count)
      }
    }
    guard calls.sync(file) == 0 else { throw failure("write", name) }
  }

  /// Opens a file of the cache for writing and creates it if it is missing. The caller closes the descriptor.
  func open(_ name: String) throws(FileError) -> Int32 {
    try inFolder(of: name, creates: true) { (folder, last) throws(FileError) in
      let file = calls.open(folder, last, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      _ = try check(opened: file, last, in: folder, name)
      return file
    }
  }

  /// Removes temporary files that terminated processes left behind.
  ///
  /// - Parameter limit: the time of day; temporary files changed later may still be in use.
  func sweep(before limit: time_t) { sweep(fcntl(descriptor, F_DUPFD_CLOEXEC, 0), before: limit, depth: 3) }

  /// - Parameter folder: a descriptor that this function closes.
  private func sweep(_ folder: Int32, before limit: time_t, depth: Int) {
    guard folder >= 0 else { return }
    guard let stream = fdopendir(folder) else {
      Glibc.close(folder)
      return
    }
    defer { closedir(stream) }
    rewinddir(stream)
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name == "." || name == ".." { continue }
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        if depth > 1 { sweep(openat(folder, name, Self.folderFlags), before: limit, depth: depth - 1) }
      } else if name.hasPrefix(Self.temporaryPrefix), status.st_mtim.tv_sec < limit {
        _ = calls.remove(folder, name)
      }
    }
  }

  private static let folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

  /// Passes the open folder that contains a file, and the last component of the file's name, to `body`.
  func inFolder<Result>(
    of name: String, creates: Bool, _ body: (Int32, String) throws(FileError) -> Result
  ) throws(FileError) -> Result {
    var folder = descriptor
    defer { if folder != descriptor { Glibc.close(folder) } }
    var parts = name.pathParts
    let last = parts.isEmpty ? "" : parts.removeLast()
    var above = ""
    for part in parts {
      above += above.isEmpty ? part : "/\(part)"
      if creates, calls.makeFolder(folder, part) != 0, errno != EEXIST { throw failure("create", above) }
      let next = openat(folder, part, Self.folderFlags)
      _ = try check(opened: next, part, in: folder, above)
      if folder != descriptor { Glibc.close(folder) }
      folder = next
    }
    return try body(folder, last)
  }

  /// Returns the status of an opened file. Throws, and closes the descriptor, if opening failed or the file is not
  /// trusted.
  private func check(
    opened file: Int32, _ last: String, in folder: Int32, _ name: String
  ) throws(FileError) -> stat {
    guard file >= 0 else {
      let code = errno
      var status = stat()
      if code == ELOOP || code == ENOTDIR, fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW) == 0,
        status.st_mode & S_IFMT == S_IFLNK
      {
        throw FileError(
          path: "\(path)/\(name)", action: "open", reason: "it is a link, which the cache does not follow")
      }
      throw FileError(path: "\(path)/\(name)", action: "open", code: code)
    }
    do throws(FileError) { return try Self.check(file, "\(path)/\(name)", trust, calls) } catch {
      Glibc.close(file)
      throw error
    }
  }

  private static func check(
    _ file: Int32, _ path: String, _ trust: CacheTrust, _ calls: FileSystemCalls
  ) throws(FileError) -> stat {
    var status = stat()
    guard calls.examine(file, &status) == 0 else { throw FileError(path: path, action: "examine", code: errno) }
    guard [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else {
      throw FileError(path: path, action: "use", reason: "it is neither a regular file nor a folder")
    }
    if let objection = trust.objection(toOwn: status) {
      throw FileError(path: path, action: "trust", reason: objection)
    }
    return status
  }

  func failure(_ action: String, _ name: String) -> FileError {
    FileError(path: "\(path)/\(name)", action: action, code: errno)
  }

  /// Creates a folder and its missing parents.
  ///
  /// - Returns: whether the folder was created.
  private static func make(_ path: String, _ calls: FileSystemCalls) throws(FileError) -> Bool {
    var prefix = ""
    var isNew = false
    for part in path.pathParts {
      prefix += prefix.isEmpty && !path.isRootedPath ? part : "/\(part)"
      isNew = calls.makeFolder(AT_FDCWD, prefix) == 0
      if !isNew, errno != EEXIST {
        let code = errno
        var status = stat()
        // On a read-only file system `mkdir` reports that error even for an existing folder.
        if stat(prefix.pathBytes, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { continue }
        throw FileError(path: prefix, action: "create", code: code)
      }
    }
    return isNew
  }
}
