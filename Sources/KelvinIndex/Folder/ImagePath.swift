import KelvinBasics

/// The representation of a path in the index: text where its bytes are valid UTF-8, so that other programs can read it,
/// else a blob.
enum ImagePath {
  static func value(_ path: String) -> SQLiteValue {
    let bytes = path.pathBytes.dropLast().map { UInt8(bitPattern: $0) }
    return String(validating: bytes, as: UTF8.self) == nil ? .blob(bytes) : .text(bytes)
  }

  /// Returns a stored path; nil for a path that leads out of the folder, which may come from a manipulated index.
  static func path(_ row: Statement, _ column: Int32) -> String? {
    let path = String(pathBytes: row.bytes(column))
    return path.staysInside ? path : nil
  }
}
