import KelvinBasics

/// The path of an entry of an archive, which stays inside the folder that it is unpacked into.
struct EntryName {
  /// The components, at least one.
  let parts: [String]
  /// Whether the path ends in a slash, so that it names a folder.
  let isFolder: Bool

  var path: String { parts.joined(separator: "/") }

  private static let longestPart = 255
  private static let longestPath = 2048
  /// The most folders within each other.
  private static let deepest = 32

  /// Reads a path.
  ///
  /// - Parameter archive: the name of the archive in errors.
  /// - Returns: nil for the folder of the archive itself: `./`.
  /// - Throws: `PackagingError` with code `refused` for a path that is absolute, leads out of the folder, or has
  ///   characters that a file name of a model should not have.
  init?(_ bytes: [UInt8], archive: String) throws(PackagingError) {
    let name = String(pathBytes: bytes)
    func refused(_ reason: String) -> PackagingError { .refused(archive, reason, entry: name) }
    guard bytes.count <= Self.longestPath else {
      throw refused("its path has \(bytes.count) bytes, at most \(Self.longestPath) are allowed")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else { throw refused("its path is not valid UTF-8") }
    guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw refused("its path has control characters") }
    guard !bytes.contains(UInt8(ascii: "\\")) else { throw refused("its path has a backslash") }
    guard bytes.first != UInt8(ascii: "/") else { throw refused("its path is absolute") }
    var pieces = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    isFolder = pieces.count > 1 && pieces[pieces.count - 1].isEmpty
    if isFolder { pieces.removeLast() }
    if let first = pieces.first, first.elementsEqual(".".utf8) { pieces.removeFirst() }
    parts = pieces.map { String(decoding: $0, as: UTF8.self) }
    if parts.isEmpty, !bytes.isEmpty { return nil }
    guard !parts.contains("..") else { throw refused("its path leaves the folder of the archive") }
    guard !parts.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0.utf8.count <= Self.longestPart }) else {
      throw refused("its path has an empty or a long component")
    }
    guard parts.count <= Self.deepest else {
      throw refused("it is \(parts.count) folders deep, at most \(Self.deepest) are allowed")
    }
  }
}
