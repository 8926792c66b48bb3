import Glibc

/// Symbolic links.
package enum SymbolicLink {
  /// Returns the target of a link as stored; nil for anything else.
  ///
  /// - Parameter folder: the open folder that a relative path begins in; `AT_FDCWD` for the working folder.
  package static func target(of path: String, in folder: Int32 = AT_FDCWD) -> String? {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = target.withUnsafeMutableBytes { room -> Int in
      guard let base = room.baseAddress else { return -1 }
      return readlinkat(folder, path.pathBytes, base.assumingMemoryBound(to: CChar.self), room.count)
    }
    return count < 0 ? nil : String(pathBytes: target.prefix(count))
  }
}
