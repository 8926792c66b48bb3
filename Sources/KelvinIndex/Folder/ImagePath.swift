import KelvinBasics

/// How a path stands in the index: as text where its bytes are UTF-8, so that any program can read it, else as a blob.
enum ImagePath {
  static func value(_ path: String) -> SQLiteValue {
    let bytes = path.pathBytes.dropLast().map { UInt8(bitPattern: $0) }
    return String(validating: bytes, as: UTF8.self) == nil ? .blob(bytes) : .text(bytes)
  }

  /// Nil for a path that leads out of the folder: whoever wrote it, it is no image of the folder's.
  static func path(_ row: Statement, _ column: Int32) -> String? {
    let path = String(pathBytes: row.bytes(column))
    guard !path.isEmpty, !path.isRootedPath, !path.pathParts.contains(".."), !path.utf8.contains(0) else { return nil }
    return path
  }
}
