package import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinGraph
import KelvinImport

/// Reads documents and writes results at paths that the user names.
package enum LocalFile {
  /// The largest document that is read, in bytes.
  private static let largestDocument = 256 << 20

  /// Reads a small file.
  ///
  /// - Parameter folder: The folder that the file was found in; no link below it is followed. Nil for a file that the
  ///   user names.
  /// - Throws: `ModelError` with code `io`, also for a file larger than `largestDocument`.
  package static func read(_ path: String, below folder: String? = nil) throws(ModelError) -> Data {
    let file = try ModelError.wrapping { try OpenFile(path, below: folder) }
    guard file.byteCount <= largestDocument else {
      throw ModelError(
        .io, "'\(path)' has \(file.byteCount) bytes, at most \(largestDocument) are read; is it the right file?")
    }
    let bytes = try ModelError.wrapping { try Bytes(reading: file) }
    return bytes.withUnsafeBytes { Data($0) }
  }

  /// Reads standard input to its end.
  ///
  /// - Throws: `ModelError` with code `io`, also for more bytes than `largestDocument`.
  package static func readStandardInput() throws(ModelError) -> Data {
    try ModelError.wrapping {
      let stream = try ByteStream(STDIN_FILENO, name: "standard input")
      var bytes = Data()
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = try piece.withUnsafeMutableBytes({ try stream.read($0) }), count > 0 {
        bytes += piece.prefix(count)
        guard bytes.count <= largestDocument else {
          throw ModelError(.io, "standard input has more than \(largestDocument) bytes, the limit for a document")
        }
      }
      return bytes
    }
  }

  /// Writes an array to a `.npy` file atomically.
  ///
  /// - Throws: `ModelError` with code `io` and the system's reason.
  package static func write(_ array: MultiArray, to path: String) throws(ModelError) {
    try write(try ModelError.wrapping { NPY.write(array.tensor) }, to: path)
  }

  /// Writes a file atomically: readers see the old or the new contents. If writing fails, the existing file is
  /// unchanged.
  ///
  /// - Throws: `ModelError` with code `io` and the system's reason.
  package static func write(_ bytes: some Collection<UInt8>, to path: String) throws(ModelError) {
    try ModelError.wrapping {
      let file = try AtomicFileWriter(path)
      try file.write(Array(bytes))
      try file.finish()
    }
  }

  /// Creates a folder and its missing parents.
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

  /// Removes a folder and its contents without following links. Entries that cannot be removed stay.
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

  /// The largest number of bytes of a name that `sanitized` keeps whole. File systems allow 255 bytes with all endings.
  private static let longestName = 200

  /// Whether `sanitized` shortens a name.
  package static func isLong(_ name: String) -> Bool { name.unicodeScalars.count > longestName }

  /// Converts a name to a valid file name: characters outside `A–Z a–z 0–9 . _ -` become `_`. An empty name becomes
  /// `_`; `.` and `..` become `_` and `__`. Of a long name, the start and a hash of the whole are kept.
  package static func sanitized(_ name: String) -> String {
    var text = String(
      name.unicodeScalars.map { scalar -> Character in
        switch scalar {
        case "A"..."Z", "a"..."z", "0"..."9", ".", "_", "-": Character(scalar)
        default: "_"
        }
      })
    if isLong(name) {
      let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
      return "\(text.prefix(longestName - 17))_\(String(hash, radix: 16))"
    }
    if text.isEmpty || text == "." || text == ".." { text = String(repeating: "_", count: max(text.count, 1)) }
    return text
  }
}
