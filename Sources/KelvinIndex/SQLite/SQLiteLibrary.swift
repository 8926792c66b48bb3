import CKelvinSupport

/// SQLite, opened when it is first needed.
enum SQLiteLibrary {
  /// - Throws: `libraryMissing` with the loader's own words, and the package to install where it is not there.
  static func functions() throws(PhotoIndexError) -> kelvin_sqlite {
    var reason: UnsafePointer<CChar>?
    if let table = kelvin_sqlite_load(&reason) { return table.pointee }
    let words = reason.map { String(cString: $0) } ?? "no reason given"
    let isAbsent = reason.map { kelvin_library_is_absent($0) } ?? false
    throw PhotoIndexError(
      .libraryMissing,
      "no index of images can be used: \(words)" + (isAbsent ? "; install it: apt install libsqlite3-0" : ""))
  }
}
