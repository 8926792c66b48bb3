package import Glibc
package import KelvinBasics

/// Decides which files and folders the cache trusts. Cached files determine computed results and the native code that
/// a driver runs, so they must belong to the process's user, and nobody else may have write access.
package struct CacheTrust: Sendable {
  /// The effective user of this process.
  let user: uid_t
  /// The mode of folders that the cache creates.
  static let folderMode: mode_t = 0o700
  /// The mode of files that the cache creates.
  static let fileMode: mode_t = 0o600

  package init(user: uid_t = geteuid()) { self.user = user }

  /// Returns why a file or folder of the cache is not trusted; nil if the user owns it and nobody else can write to
  /// it.
  package func objection(toOwn status: stat) -> String? {
    if status.st_uid != user {
      return "it belongs to \(Self.name(status.st_uid)) and has mode \(Self.mode(status)), and this process acts as "
        + "\(Self.name(user)); \(Self.remedy)"
    }
    return status.st_mode & 0o022 == 0 ? nil : Self.othersMayWrite(status)
  }

  /// Returns why a cache must not be created in a folder. Nil if the folder belongs to the user or root, and others
  /// cannot remove the user's files from it. Group write access is allowed: the cache folder itself is checked when
  /// it is opened, and stays open.
  package func objection(toParent status: stat) -> String? {
    guard isOwnOrRoots(status) else {
      return
        "it belongs to \(Self.name(status.st_uid)) and has mode \(Self.mode(status)), and a cache would be in it; "
        + Self.remedy
    }
    return status.st_mode & 0o002 == 0 || status.st_mode & S_ISVTX != 0 ? nil : Self.othersMayWrite(status)
  }

  /// Returns why a file cannot serve as the cache's secret; nil if others cannot access it.
  package func objection(toSecret status: stat) -> String? {
    guard status.st_mode & 0o077 != 0 else { return nil }
    return
      "its file system shows it to others, with mode \(Self.mode(status)), whatever mode is set; \(Self.remedy)"
  }

  /// Resolves all links of a path. Components that do not exist yet are kept as given.
  ///
  /// - Throws: `FileError` if a folder above the path, or on the path of a link, fails `objection(toParent:)`, or if
  ///   a link belongs to another user.
  package func place(of path: String) throws(FileError) -> String {
    var rest = (path.isRootedPath ? [] : try Self.workingFolder().pathParts)[...] + path.pathParts
    // The root folder is the empty string here.
    var place = ""
    var links = 0
    try check(parent: "/")
    while let part = rest.popFirst() {
      if part == "." { continue }
      if part == ".." {
        place = place.pathParts.dropLast().reduce("") { "\($0)/\($1)" }
        continue
      }
      let next = "\(place)/\(part)"
      var status = stat()
      guard lstat(next.pathBytes, &status) == 0 else {
        guard errno == ENOENT else { throw FileError(path: next, action: "examine", code: errno) }
        return rest.reduce(next) { "\($0)/\($1)" }
      }
      if status.st_mode & S_IFMT == S_IFLNK {
        let target = try follow(next, status)
        links += 1
        guard links <= Self.mostLinks else { throw FileError(path: path, action: "follow", code: ELOOP) }
        if target.isRootedPath { place = "" }
        rest = target.pathParts[...] + rest
      } else {
        place = next
        if !rest.isEmpty { try check(parent: place) }
      }
    }
    return place.isEmpty ? "/" : place
  }

  private static let mostLinks = 40

  private func follow(_ link: String, _ status: stat) throws(FileError) -> String {
    guard isOwnOrRoots(status) else {
      throw FileError(
        path: link, action: "follow", reason: "it is a link that belongs to \(Self.name(status.st_uid))")
    }
    guard let target = SymbolicLink.target(of: link) else { throw FileError(path: link, action: "follow", code: errno) }
    return target
  }

  private func check(parent path: String) throws(FileError) {
    var status = stat()
    guard stat(path.pathBytes, &status) == 0 else { throw FileError(path: path, action: "examine", code: errno) }
    if let objection = objection(toParent: status) { throw FileError(path: path, action: "trust", reason: objection) }
  }

  private static func workingFolder() throws(FileError) -> String {
    guard let path = getcwd(nil, 0) else { throw FileError(path: ".", action: "find", code: errno) }
    defer { free(path) }
    return String(path: path)
  }

  private func isOwnOrRoots(_ status: stat) -> Bool { status.st_uid == user || status.st_uid == 0 }

  private static func othersMayWrite(_ status: stat) -> String {
    "others may write to it: it belongs to \(name(status.st_uid)) and has mode \(mode(status)); 'chmod go-w' it, or "
      + remedy
  }

  private static let remedy = "name a folder of your own with --cache-dir or KELVIN_CACHE_DIR"

  private static func mode(_ status: stat) -> String {
    let digits = String(status.st_mode & 0o7777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// Returns a user's name and number: `nobody (65534)`.
  private static func name(_ user: uid_t) -> String {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 4096)
    return buffer.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, getpwuid_r(user, &entry, base, buffer.count, &found) == 0,
        let name = found?.pointee.pw_name
      else { return "user \(user)" }
      return "\(String(cString: name)) (\(user))"
    }
  }
}
