import Glibc
import KelvinBasics
import KelvinFeatures

/// The location of a folder's index.
package struct IndexFile: Sendable, Hashable {
  /// The folder that contains the images. Paths in the index are relative to it.
  package let folder: String
  package let path: String

  private static let name = ".kelvin-index.sqlite"

  /// - Parameter path: The path of the index; inside the folder where nil.
  package init(folder: String, path: String? = nil) {
    self.folder = folder
    self.path = path ?? folder.appendingPath(Self.name)
  }

  /// Returns the path of an image from its path relative to the folder.
  package func path(of image: String) -> String { folder.appendingPath(image) }

  /// Opens a consistent snapshot of the index for reading. Concurrent writes do not affect it.
  ///
  /// - Throws: `absent`, `unusable`, `libraryMissing`, `io`.
  func openForReading() throws(PhotoIndexError) -> Database {
    guard access(path.pathBytes, F_OK) == 0 else {
      throw PhotoIndexError(
        .absent, "there is no index of '\(folder)' ('\(path)'); make one: kelvin index FOLDER --model MODEL")
    }
    do throws(PhotoIndexError) { return try snapshot(.reading) } catch {
      // Readers need shared files next to the index, which cannot be created in a read-only folder.
      guard error.code == .io, isOnlyReadable else { throw error }
      return try snapshot(.readingUnchanging)
    }
  }

  private func snapshot(_ access: Database.Access) throws(PhotoIndexError) -> Database {
    let database = try Database(path, access)
    // Memory-maps the file, limited to a part of very large files.
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
