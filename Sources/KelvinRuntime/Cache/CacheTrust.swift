package import Glibc
package import KelvinBasics

/// Whom the cache believes. What lies in it decides what a program computes and which native code a driver runs, so it
/// must be of the user that the process acts for, and nobody else may write there.
package struct CacheTrust: Sendable {
  /// The user that this process acts as.
  let user: uid_t
  /// The mode of a folder that the cache makes.
  static let folderMode: mode_t = 0o700
  /// The mode of a file that the cache makes.
  static let fileMode: mode_t = 0o600

  package init(user: uid_t = geteuid()) { self.user = user }

  /// Why a file or folder of the cache is not believed; nil where it is the user's own and nobody else can write to it.
  package func objection(toOwn status: stat) -> String? {
    if status.st_uid != user {
      return "it belongs to \(Self.name(status.st_uid)) and has mode \(Self.mode(status)), and this process acts as "
        + "\(Self.name(user)); \(Self.remedy)"
    }
    return status.st_mode & 0o022 == 0 ? nil : Self.othersMayWrite(status)
  }

  /// Why a cache does not go into a folder; nil for one of the user's or of root's where nobody can take away what is
  /// another's. Groups are let pass: a cache is checked itself when it is opened, and stays open.
  package func objection(toParent status: stat) -> String? {
    guard isOwnOrRoots(status) else {
      return
        "it belongs to \(Self.name(status.st_uid)) and has mode \(Self.mode(status)), and a cache would lie in it; "
        + Self.remedy
    }
    return status.st_mode & 0o002 == 0 || status.st_mode & S_ISVTX != 0 ? nil : Self.othersMayWrite(status)
  }

  /// Why a file does not serve as the cache's secret; nil for one that others cannot read.
  package func objection(toSecret status: stat) -> String? {
    guard status.st_mode & 0o077 != 0 else { return nil }
    return
      "its file system shows it to others, with mode \(Self.mode(status)), whatever mode it is given; \(Self.remedy)"
  }

  /// The folder that a path leads to, with no link left on the way to it. What does not exist yet is as it was spelled.
  ///
  /// - Throws: `FileError` where the way is not to be trusted: each folder above it, and each above a link or on the way
  ///   that a link leads, by `objection(toParent:)`, and each link by its owner.
  package func place(of path: String) throws(FileError) -> String {
    var rest = (path.isRootedPath ? [] : try Self.workingFolder().pathParts)[...] + path.pathParts
    // The root is empty here.
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

  /// `nobody (65534)`.
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
