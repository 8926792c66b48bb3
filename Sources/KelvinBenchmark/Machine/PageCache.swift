import Glibc

/// Files as a fresh machine finds them.
package enum PageCache {
  /// Asks the kernel to forget what it holds of the files, so that the next read goes to the disk. Pages that are
  /// dirty or mapped by a process stay; it is a request, and failing is no error.
  package static func forget(_ paths: [String]) {
    for path in paths {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      close(descriptor)
    }
  }
}
