import Glibc
import KelvinBasics
import KelvinFeatures

/// The location of a folder's index.
package struct IndexFile: Sendable, Hashable {
  /// The folder that contains the images. Paths in the index are relative to it.
  package let folder: String
  package let path: String
  /// Whether the user named the file. The links of such a path are followed.
  private let isNamed: Bool

  private static let name = ".kelvin-index.sqlite"

  /// - Parameter path: The path of the index; inside the folder where nil.
  package init(folder: String, path: String? = nil) {
    self.folder = folder
    self.path = path ?? folder.appendingPath(Self.name)
    isNamed = path != nil
  }

  /// Returns the path of an image from its path relative to the folder.
  package func path(of image: String) -> String { folder.appendingPath(image) }

  /// Returns the path of the file without links. A link in place of the file of a folder could lead to any file, and is
  /// not followed.
  ///
  /// - Throws: `unusable` for a link or anything else that is not a regular file; `io`.
  func location() throws(PhotoIndexError) -> String {
    if isNamed, let whole = Self.withoutLinks(path) { return try Self.checked(whole, named: path) }
    guard let folder = Self.withoutLinks(path.parentPath) else {
      throw PhotoIndexError(.io, "\(FileError(path: path.parentPath, action: "open", code: errno))")
    }
    return try Self.checked(folder.appendingPath(path.lastPathPart), named: path)
  }

  private static func withoutLinks(_ path: String) -> String? {
    guard let found = realpath(path.pathBytes, nil) else { return nil }
    defer { free(found) }
    return String(path: found)
  }

  private static func checked(_ location: String, named path: String) throws(PhotoIndexError) -> String {
    var status = stat()
    guard lstat(location.pathBytes, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return location }
    let reason =
      SymbolicLink.target(of: location).map { "it is a symbolic link to '\($0)'" } ?? FileState(status).kind
    throw PhotoIndexError(
      .unusable, "'\(path)' is not used as an index: \(reason); remove it, or name the index with --index")
  }

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
    let database = try Database(try location(), access)
    try database.run("BEGIN")
    try IndexSchema.check(database)
    return database
  }

  private var isOnlyReadable: Bool {
    var journal = stat()
    return access(path.parentPath.pathBytes, W_OK) != 0 && stat("\(path)-wal".pathBytes, &journal) != 0
  }
}
