import Glibc
import KelvinBasics
import KelvinRuntime

/// The folder of a store, whose files decide which models a process runs. It must belong to the user, and nobody else
/// may write to it, as for the compiled cache.
struct StoreFolder: Sendable {
  /// The path as the user gave it.
  let path: String
  private let trust = CacheTrust()
  private static let remedy = "name a folder of your own with KELVIN_MODELS_DIR"

  init(_ path: String) { self.path = path }

  func path(_ name: String) -> String { path.appendingPath(name) }

  /// Checks the folder.
  ///
  /// - Returns: False if it does not exist.
  /// - Throws: `io` if it belongs to another user, or others can write to it.
  func check() throws(StoreError) -> Bool {
    var status = stat()
    guard stat(path.pathBytes, &status) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw failure("open", path) }
      return false
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(.io, "'\(path)' is a file, expected the folder of models; \(Self.remedy)")
    }
    try checkPlace()
    guard trust.objection(toOwn: status) == nil else {
      throw StoreError(
        .io,
        "cannot trust '\(path)': it belongs to user \(status.st_uid) with mode "
          + "\(String(status.st_mode & 0o7777, radix: 8)), expected user \(geteuid()) and no other with write access; "
          + Self.remedy)
    }
    return true
  }

  /// Checks the folder, and makes it if it does not exist.
  func prepare() throws(StoreError) {
    if try check() { return }
    try checkPlace()
    var prefix = ""
    for part in path.pathParts {
      prefix += prefix.isEmpty && !path.isRootedPath ? part : "/\(part)"
      guard mkdir(prefix.pathBytes, 0o700) == 0 || errno == EEXIST else { throw failure("create", prefix) }
    }
    guard try check() else { throw StoreError(.io, "cannot create '\(path)': it was removed meanwhile") }
  }

  private func checkPlace() throws(StoreError) {
    do throws(FileError) { _ = try trust.place(of: path) } catch {
      guard error.code == 0 else { throw StoreError(error) }
      throw StoreError(
        .io, "cannot trust '\(path)': others can replace '\(error.path)', which is on the way to it; \(Self.remedy)")
    }
  }

  /// Returns the names in a folder, sorted; empty if it cannot be read.
  static func entries(_ path: String) -> [String] {
    guard let stream = opendir(path.pathBytes) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(pathBytes: $0.prefix { $0 != 0 }) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Returns the total size of the files below a path.
  static func byteCount(_ path: String) -> Int {
    var status = stat()
    guard lstat(path.pathBytes, &status) == 0 else { return 0 }
    guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_size) }
    return entries(path).reduce(0) { $0 + byteCount("\(path)/\($1)") }
  }

  /// Writes all files and folders below a path to the disk.
  static func sync(_ path: String) throws(StoreError) {
    for name in entries(path) {
      var status = stat()
      let item = "\(path)/\(name)"
      guard lstat(item.pathBytes, &status) == 0 else { throw failure("examine", item) }
      if status.st_mode & S_IFMT == S_IFDIR { try sync(item) } else { try syncOne(item) }
    }
    try syncOne(path)
  }

  private static func syncOne(_ path: String) throws(StoreError) {
    let file = open(path.pathBytes, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { throw failure("open", path) }
    defer { close(file) }
    // Some file systems cannot sync folders.
    guard fsync(file) == 0 || errno == EINVAL else { throw failure("write", path) }
  }

  /// Gives a file or folder another name, and writes the change to the disk.
  static func move(_ path: String, to target: String) throws(StoreError) {
    guard rename(path.pathBytes, target.pathBytes) == 0 else { throw failure("write", target) }
    try? syncOne(target.parentPath)
  }

  /// Makes a folder, unless it exists.
  static func makeFolder(_ path: String) throws(StoreError) {
    if mkdir(path.pathBytes, 0o700) == 0 {
      try? syncOne(path.parentPath)
    } else if errno != EEXIST {
      throw failure("create", path)
    }
  }

  private static func failure(_ action: String, _ path: String) -> StoreError {
    StoreError(FileError(path: path, action: action, code: errno))
  }

  private func failure(_ action: String, _ path: String) -> StoreError { Self.failure(action, path) }
}
