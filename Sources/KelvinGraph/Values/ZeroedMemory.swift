import Glibc

/// Zeroed host memory of our own, aligned to a page where it takes one; freed with the last reference.
///
/// Large blocks come straight from the system: it zeroes pages when they are first touched, and backs whole multiples
/// of 2 MiB by huge pages where the administrator lets programs ask for them. A block of 64 MiB then costs 32 page
/// faults in place of 16384.
package final class ZeroedMemory: @unchecked Sendable {
  package let baseAddress: UnsafeMutableRawPointer
  package let count: Int
  /// 0 where the memory was allocated.
  private let mappedCount: Int

  private static let page = max(4096, sysconf(Int32(_SC_PAGESIZE)))
  private static let hugePage = 1 << 21
  /// From here on the system is asked.
  private static let mappedFrom = 1 << 20

  /// - Returns: nil where there is not so much memory.
  package init?(count: Int) {
    precondition(count >= 0)
    self.count = count
    guard count >= Self.mappedFrom else {
      var memory: UnsafeMutableRawPointer?
      let alignment = count < Self.page ? 64 : Self.page
      guard posix_memalign(&memory, alignment, max(count, 1)) == 0, let memory else { return nil }
      memset(memory, 0, count)
      (baseAddress, mappedCount) = (memory, 0)
      return
    }
    guard let (memory, size) = Self.map(count) else { return nil }
    (baseAddress, mappedCount) = (memory, size)
  }

  deinit {
    if mappedCount > 0 { munmap(baseAddress, mappedCount) } else { free(baseAddress) }
  }

  private static func map(_ count: Int) -> (UnsafeMutableRawPointer, size: Int)? {
    guard count <= Int.max - hugePage else { return nil }
    let size = (count + page - 1) / page * page
    let spare = size < hugePage ? 0 : hugePage - page
    guard let memory = mmap(nil, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      memory != MAP_FAILED
    else { return nil }
    guard spare > 0 else { return (memory, size) }
    let aligned = memory.alignedUp(toMultipleOf: hugePage)
    let before = aligned - memory
    if before > 0 { munmap(memory, before) }
    if before < spare { munmap(aligned + size, spare - before) }
    // A refusal leaves ordinary pages.
    _ = madvise(aligned, size, MADV_HUGEPAGE)
    return (aligned, size)
  }
}
