package import Glibc
import KelvinBasics
import KelvinGraph

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

  /// Throws where the way to a folder is not to be trusted, as far as it exists: each folder above it by
  /// `objection(toParent:)`, and each link by its owner.
  func check(wayTo path: String) throws(FileError) {
    var place = path.isRootedPath ? "/" : "."
    var folder = place
    for part in path.pathParts {
      let next = place == "/" ? "/\(part)" : "\(place)/\(part)"
      var status = stat()
      guard lstat(next.pathBytes, &status) == 0 else {
        folder = place
        break
      }
      if status.st_mode & S_IFMT == S_IFLNK, !isOwnOrRoots(status) {
        throw FileError(
          path: next, action: "follow", reason: "it is a link that belongs to \(Self.name(status.st_uid))")
      }
      folder = place
      place = next
    }
    guard let real = realpath(folder.pathBytes, nil) else { throw FileError(path: folder, action: "find", code: errno) }
    defer { free(real) }
    var above = ""
    for part in [""] + String(path: real).pathParts {
      above += above.hasSuffix("/") ? part : "/\(part)"
      var status = stat()
      guard stat(above.pathBytes, &status) == 0 else { throw FileError(path: above, action: "examine", code: errno) }
      if let objection = objection(toParent: status) {
        throw FileError(path: above, action: "trust", reason: objection)
      }
    }
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
