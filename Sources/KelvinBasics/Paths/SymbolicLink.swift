import Glibc

/// A name that stands for another path.
package enum SymbolicLink {
  /// Where a link leads, as it says; nil for anything else.
  ///
  /// - Parameter folder: open, the one that a relative path begins in; `AT_FDCWD` for the process's own.
  package static func target(of path: String, in folder: Int32 = AT_FDCWD) -> String? {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = target.withUnsafeMutableBytes { room -> Int in
      guard let base = room.baseAddress else { return -1 }
      return readlinkat(folder, path.pathBytes, base.assumingMemoryBound(to: CChar.self), room.count)
    }
    return count < 0 ? nil : String(pathBytes: target.prefix(count))
  }
}
