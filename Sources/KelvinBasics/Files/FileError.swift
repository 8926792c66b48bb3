import Glibc

/// An error in using a file.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file, as the caller or the model named it.
  package let path: String
  package let action: String
  package let reason: String
  /// The system's error number, or 0 if Kelvin gave the reason.
  package let code: Int32

  package init(path: String, action: String, code: Int32) {
    self.path = path
    self.action = action
    self.code = code
    reason = path.utf8.contains(0) ? "a path cannot contain a zero byte" : String(cString: strerror(code))
  }

  package init(path: String, action: String, reason: String) {
    self.path = path
    self.action = action
    self.reason = reason
    code = 0
  }

  package var description: String { "cannot \(action) '\(path)': \(reason)".printable }
}
