package import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinGraph

/// Files that a user names: documents that are read, and results that are written.
package enum LocalFile {
  /// Documents beyond this are not ours.
  private static let largestDocument = 256 << 20

  /// A small file's bytes.
  ///
  /// - Throws: `ModelError` with code `io`, also for a file too large to be a document.
  package static func read(_ path: String) throws(ModelError) -> Data {
    let file = try ModelError.wrapping { try OpenFile(path) }
    guard file.byteCount <= largestDocument else {
      throw ModelError(
        .io, "'\(path)' has \(file.byteCount) bytes, at most \(largestDocument) are read; is it the right file?")
    }
    let bytes = try ModelError.wrapping { try Bytes(reading: file) }
    return bytes.withUnsafeBytes { Data($0) }
  }

  /// Puts a file in place in one step, so that no reader ever finds half of it. What a failure leaves is what was there
  /// before.
  ///
  /// - Throws: `ModelError` with code `io` and the system's reason.
  package static func write(_ bytes: some Collection<UInt8>, to path: String) throws(ModelError) {
    try ModelError.wrapping { try put(bytes, path) }
  }

  private static func put(_ bytes: some Collection<UInt8>, _ path: String) throws(FileError) {
    if let special = isSpecial(path), special { return try writeInPlace(Array(bytes), to: path) }
    let temporary = "\(path).writing-\(getpid())"
    let descriptor = open(temporary.pathBytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw FileError(path: path, action: "write", code: errno) }
    do throws(FileError) {
      try write(Array(bytes), descriptor, path)
      guard fsync(descriptor) == 0 || errno == EINVAL else { throw FileError(path: path, action: "write", code: errno) }
    } catch {
      close(descriptor)
      unlink(temporary.pathBytes)
      throw error
    }
    guard close(descriptor) == 0, rename(temporary.pathBytes, path.pathBytes) == 0 else {
      let code = errno
      unlink(temporary.pathBytes)
      throw FileError(path: path, action: "write", code: code)
    }
  }

  /// Makes a folder and those above it, where they are missing.
  ///
  /// - Throws: `ModelError` with code `io` and the system's reason.
  package static func makeFolder(_ path: String) throws(ModelError) {
    try ModelError.wrapping { try make(path) }
  }

  private static func make(_ path: String) throws(FileError) {
    var prefix = ""
    for part in path.pathParts {
      prefix += prefix.isEmpty && !path.isRootedPath ? part : "/\(part)"
      var status = stat()
      if stat(prefix.pathBytes, &status) == 0 {
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileError(path: prefix, action: "create", code: ENOTDIR) }
        continue
      }
      guard mkdir(prefix.pathBytes, 0o755) == 0 || errno == EEXIST else {
        throw FileError(path: prefix, action: "create", code: errno)
      }
    }
  }

  /// Removes a folder and what is in it, without following links; what cannot be removed stays.
  package static func removeFolder(_ path: String) {
    var status = stat()
    guard lstat(path.pathBytes, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR, let stream = opendir(path.pathBytes) else {
      unlink(path.pathBytes)
      return
    }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(pathBytes: $0.prefix { $0 != 0 })
      }
      if name != ".", name != ".." { removeFolder("\(path)/\(name)") }
    }
    closedir(stream)
    rmdir(path.pathBytes)
  }

  /// A name as a file's: characters outside `A–Z a–z 0–9 . _ -` become `_`, and a leading point too, so that no name
  /// leads elsewhere.
  package static func sanitized(_ name: String) -> String {
    var text = String(
      name.unicodeScalars.map { scalar -> Character in
        switch scalar {
        case "A"..."Z", "a"..."z", "0"..."9", ".", "_", "-": Character(scalar)
        default: "_"
        }
      })
    if text.isEmpty || text == "." || text == ".." { text = String(repeating: "_", count: max(text.count, 1)) }
    return text
  }

  /// Whether a path is there and no regular file: a pipe, `/dev/stdout`.
  private static func isSpecial(_ path: String) -> Bool? {
    var status = stat()
    guard stat(path.pathBytes, &status) == 0 else { return nil }
    return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
  }

  private static func writeInPlace(_ bytes: [UInt8], to path: String) throws(FileError) {
    let descriptor = open(path.pathBytes, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(path: path, action: "write", code: errno) }
    defer { close(descriptor) }
    try write(bytes, descriptor, path)
  }

  private static func write(_ bytes: [UInt8], _ descriptor: Int32, _ path: String) throws(FileError) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        Glibc.write(descriptor, raw.baseAddress.map { $0 + offset }, bytes.count - offset)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileError(path: path, action: "write", code: count == 0 ? ENOSPC : errno) }
      offset += count
    }
  }
}
