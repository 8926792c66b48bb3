import Glibc
import Kelvin
import KelvinBasics

/// The files that a command writes, each with the option that names it.
struct WrittenFiles {
  /// A file, under any of its names.
  private struct Identity: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  private var files: [(option: String, path: String, makesFolder: Bool)] = []

  /// - Parameter makesFolder: Whether the command creates a missing folder.
  mutating func add(_ option: String, _ path: String, makesFolder: Bool = false) {
    files.append((option, path, makesFolder))
  }

  /// Checks that each file can be created, and that no file is read by the command or written twice. Other names of a
  /// file, such as links, count as the file.
  ///
  /// - Parameter inputs: The files and folders that the command reads, each with a description.
  /// - Throws: `UsageError` for a file that is read or written twice; `InputError` for a folder that is missing or
  ///   not writable.
  func check(against inputs: [(description: String, path: String)]) throws {
    let known = inputs.compactMap { input in Self.identity(input.path).map { (input.description, $0) } }
    for (index, file) in files.enumerated() {
      for place in Self.placesAbove(file.path) {
        guard let identity = Self.identity(place) else { continue }
        guard let (description, _) = known.first(where: { $0.1 == identity }) else { continue }
        let relation = place == file.path ? "is" : "is in"
        throw UsageError("\(file.option) '\(file.path)' \(relation) \(description); name another file")
      }
      if let other = files[..<index].first(where: { Self.isSame($0.path, file.path) }) {
        throw UsageError("\(file.option) '\(file.path)' is also the file of \(other.option); name another file")
      }
      if !file.makesFolder { try Self.checkFolder(of: file.path, file.option) }
    }
  }

  private static func checkFolder(of path: String, _ option: String) throws {
    let folder = path.parentPath
    var status = stat()
    // A device or a pipe is written directly.
    if stat(path.pathBytes, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return }
    guard stat(folder.pathBytes, &status) == 0 else {
      throw InputError("\(option) '\(path)': the folder '\(folder)' does not exist; create it, or name another file")
    }
    guard status.st_mode & S_IFMT == S_IFDIR, access(folder.pathBytes, W_OK) == 0 else {
      throw InputError("\(option) '\(path)': no file can be created in '\(folder)'; name another folder")
    }
  }

  /// Returns a path and the folders that it names, the deepest first.
  private static func placesAbove(_ path: String) -> [String] {
    var places = [path]
    while let last = places.last, last.parentPath != last { places.append(last.parentPath) }
    return places
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    switch (identity(one), identity(other)) {
    case (let one?, let other?): return one == other
    case (nil, nil):
      guard one.lastPathPart == other.lastPathPart, let folder = identity(one.parentPath),
        let otherFolder = identity(other.parentPath)
      else { return false }
      return folder == otherFolder
    default: return false
    }
  }

  private static func identity(_ path: String) -> Identity? {
    var status = stat()
    return stat(path.pathBytes, &status) == 0 ? Identity(device: status.st_dev, inode: status.st_ino) : nil
  }
}
