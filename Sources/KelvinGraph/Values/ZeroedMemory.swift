import Glibc

/// Zeroed host memory, aligned to a page if it takes at least one, and freed with the last reference.
///
/// Large blocks come directly from the system, which zeroes pages when they are first accessed. They do not request
/// huge pages.
package final class ZeroedMemory: @unchecked Sendable {
  package let baseAddress: UnsafeMutableRawPointer
  package let count: Int
  private let isMapped: Bool

  /// The minimum size in bytes of blocks that are requested from the system.
  private static let mappedFrom = 1 << 20
  private static let page = 4096

  /// Allocates memory.
  ///
  /// - Returns: Nil if there is not enough memory.
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
