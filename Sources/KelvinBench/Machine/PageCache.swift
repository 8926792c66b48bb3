import Glibc
import KelvinBasics

/// Evicts files from the page cache before a cold start.
package enum PageCache {
  /// Asks the kernel to drop the cached pages of the files, so that the next read goes to the disk. Failure is not an
  /// error: dirty pages stay, and so do pages that other processes have mapped. This process's mappings are paged out
  /// first, and read again on the next access.
  package static func forget(_ paths: [String]) {
    let resolved = Set(paths.compactMap(Self.resolved))
    for range in mappings(of: resolved) { madvise(range.baseAddress, range.count, adviceToPageOut) }
    for path in paths {
      let descriptor = open(path.pathBytes, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      close(descriptor)
    }
  }

  /// `MADV_PAGEOUT`, since Linux 5.4. Older kernels reject it.
  private static let adviceToPageOut: Int32 = 21

  private static func resolved(_ path: String) -> String? {
    guard let name = realpath(path.pathBytes, nil) else { return nil }
    defer { free(name) }
    return String(path: name)
  }

  /// Returns this process's mappings of the files. A line is `start-end perms offset device inode path`.
  private static func mappings(of paths: Set<String>) -> [UnsafeMutableRawBufferPointer] {
    guard let file = fopen("/proc/self/maps", "re") else { return [] }
    defer { fclose(file) }
    var ranges: [UnsafeMutableRawBufferPointer] = []
    var line = [CChar](repeating: 0, count: 8192)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(path: line)
      let fields = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard fields.count == 6, paths.contains(Self.trimmed(fields[5])) else { continue }
      let bounds = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
      guard bounds.count == 2, bounds[1] > bounds[0] else { continue }
      ranges.append(
        .init(start: UnsafeMutableRawPointer(bitPattern: bounds[0]), count: Int(bounds[1] - bounds[0])))
    }
    return ranges
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0 == " " }
    while let last = text.last, last.isNewline { text.removeLast() }
    return String(text)
  }
}
