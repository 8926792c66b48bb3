import Glibc

/// Zeroed host memory of our own, aligned to a page where it takes one; freed with the last reference.
///
/// Large blocks come straight from the system, which zeroes pages when they are first touched. It is not asked for huge
/// pages: on a virtual machine whose memory had not been touched before, those took longer, and no inference was shorter
/// for them.
package final class ZeroedMemory: @unchecked Sendable {
  package let baseAddress: UnsafeMutableRawPointer
  package let count: Int
  private let isMapped: Bool

  /// From here on the system is asked.
  private static let mappedFrom = 1 << 20
  private static let page = 4096

  /// - Returns: nil where there is not so much memory.
  package init?(count: Int) {
    precondition(count >= 0)
    self.count = count
    isMapped = count >= Self.mappedFrom
    if isMapped {
      guard let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        memory != MAP_FAILED
      else { return nil }
      baseAddress = memory
    } else {
      var memory: UnsafeMutableRawPointer?
      guard posix_memalign(&memory, count < Self.page ? 64 : Self.page, max(count, 1)) == 0, let memory else {
        return nil
      }
      memset(memory, 0, count)
      baseAddress = memory
    }
  }

  deinit {
    if isMapped { munmap(baseAddress, count) } else { free(baseAddress) }
  }
}
