package import Glibc
import KelvinBasics

/// The system calls by which the cache changes a folder and examines its files. Each has the meaning of the system
/// call of its name, `errno` included. Tests replace them to simulate a failing disk.
package struct FileSystemCalls: Sendable {
  package var makeFolder: @Sendable (_ folder: Int32, _ name: String) -> Int32 = { folder, name in
    mkdirat(folder, name.pathBytes, CacheTrust.folderMode)
  }
  /// Opens a file, which is created if `flags` say so.
  package var open: @Sendable (_ folder: Int32, _ name: String, _ flags: Int32) -> Int32 = { folder, name, flags in
    openat(folder, name.pathBytes, flags, CacheTrust.fileMode)
  }
  package var write: @Sendable (_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int = { file, bytes in
    Glibc.write(file, bytes.baseAddress, bytes.count)
  }
  package var examine: @Sendable (_ file: Int32, _ status: inout stat) -> Int32 = { file, status in fstat(file, &status)
  }
  package var sync: @Sendable (_ file: Int32) -> Int32 = { fsync($0) }
  package var close: @Sendable (_ file: Int32) -> Int32 = { Glibc.close($0) }
  package var rename: @Sendable (_ folder: Int32, _ name: String, _ target: String) -> Int32 = { folder, name, target in
    renameat(folder, name, folder, target)
  }
  /// Gives a file a second name, unless that name exists.
  package var link: @Sendable (_ folder: Int32, _ name: String, _ target: String) -> Int32 = { folder, name, target in
    linkat(folder, name, folder, target, 0)
  }
  package var remove: @Sendable (_ folder: Int32, _ name: String) -> Int32 = { folder, name in
    unlinkat(folder, name, 0)
  }

  package init() {}
}
