import CKelvinSupport
import KelvinFeatures

/// The SQLite library, which is opened on first use.
enum SQLiteLibrary {
  /// Returns the library's functions.
  ///
  /// - Throws: `libraryMissing` with the loader's message, and the package to install where the library is absent.
  static func functions() throws(PhotoIndexError) -> kelvin_sqlite {
    var reason: UnsafePointer<CChar>?
    if let table = kelvin_sqlite_load(&reason) { return table.pointee }
    let words = reason.map { String(cString: $0) } ?? "no reason given"
    let isAbsent = reason.map { kelvin_library_is_absent($0) } ?? false
    throw PhotoIndexError(
      .libraryMissing,
      "image indexes are not available: \(words)" + (isAbsent ? "; install it: apt install libsqlite3-0" : ""))
  }
}
