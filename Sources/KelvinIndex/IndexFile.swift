import Glibc
import KelvinBasics

/// Where the index of a folder lies.
package struct IndexFile: Sendable, Hashable {
  /// The folder whose images it holds, and that its paths begin in.
  package let folder: String
  package let path: String

  private static let name = ".kelvin-index.sqlite"

  /// - Parameter path: inside the folder where nil.
  package init(folder: String, path: String? = nil) {
    self.folder = folder
    self.path = path ?? folder.appendingPath(Self.name)
  }

  /// The path of an image of the folder, as the system takes it.
  package func path(of image: String) -> String { folder.appendingPath(image) }

  /// Opens what is there, as it is at this moment, whatever is written meanwhile.
  ///
  /// - Throws: `absent`, `unusable`, `libraryMissing`, `io`.
  func openForReading() throws(PhotoIndexError) -> Database {
    guard access(path.pathBytes, F_OK) == 0 else {
      throw PhotoIndexError(
        .absent, "there is no index of '\(folder)' ('\(path)'); make one: kelvin index FOLDER --model MODEL")
    }
    do throws(PhotoIndexError) { return try snapshot(.reading) } catch {
      // Readers share files beside the index, which cannot be made where nothing can be written.
      guard error.code == .io, isOnlyReadable else { throw error }
      return try snapshot(.readingUnchanging)
    }
  }

  private func snapshot(_ access: Database.Access) throws(PhotoIndexError) -> Database {
    let database = try Database(path, access)
    // Pages are read where the system has them. No more than that is mapped of a file whatever its size.
    try database.run("PRAGMA mmap_size = \(Int64(1) << 36)")
    try database.run("BEGIN")
    try IndexSchema.check(database)
    return database
  }

  private var isOnlyReadable: Bool {
    var journal = stat()
    return access(path.parentPath.pathBytes, W_OK) != 0 && stat("\(path)-wal".pathBytes, &journal) != 0
  }
}
