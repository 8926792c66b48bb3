import Glibc
import Synchronization

/// An open descriptor, closed once: by `close` or with the last reference.
final class Descriptor: Sendable {
  private let number: Atomic<Int32>

  init(_ number: Int32) { self.number = Atomic(number) }

  deinit { close() }

  /// The descriptor; -1 after `close`.
  var value: Int32 { number.load(ordering: .acquiring) }

  func close() {
    let number = number.exchange(-1, ordering: .acquiringAndReleasing)
    if number >= 0 { Glibc.close(number) }
  }

  /// Moves a descriptor above those of a child's standard streams, so that setting these up never overwrites it.
  ///
  /// - Returns: nil if there are too many open files.
  private static func above(_ descriptor: Int32) -> Descriptor? {
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 10)
    Glibc.close(descriptor)
    return moved < 0 ? nil : Descriptor(moved)
  }

  /// Returns the two ends of a pipe; reading does not block.
  static func pipe(bytes: Int32? = nil) -> (reading: Descriptor, writing: Descriptor)? {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { return nil }
    guard let reading = above(ends[0]), let writing = above(ends[1]) else { return nil }
    _ = fcntl(reading.value, F_SETFL, O_NONBLOCK)
    // F_SETPIPE_SZ, which the Glibc module does not define. A user may be over the limit of all pipes.
    if let bytes { _ = fcntl(writing.value, 1031, bytes) }
    return (reading, writing)
  }

  /// Returns the two ends of a stream socket. Writing to it cannot raise `SIGPIPE`, if `MSG_NOSIGNAL` is given.
  static func sockets() -> (own: Descriptor, other: Descriptor)? {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
    guard let own = above(ends[0]), let other = above(ends[1]) else { return nil }
    return (own, other)
  }

  /// The outcome of one attempt to read.
  enum Reading: Equatable {
    case bytes(Int)
    case nothingYet
    case end
  }

  /// Reads what is there.
  func read(into target: UnsafeMutableRawBufferPointer) -> Reading {
    while true {
      let count = Glibc.read(value, target.baseAddress, target.count)
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .nothingYet
      default: return .end
      }
    }
  }
}

/// A request to end a wait, from any thread. It cannot be taken back.
final class CancelSignal: Sendable {
  private let ends: (reading: Descriptor, writing: Descriptor)?
  private let isGiven = Atomic(false)

  init() { ends = Descriptor.pipe() }

  var isSet: Bool { isGiven.load(ordering: .acquiring) }

  func set() {
    guard !isGiven.exchange(true, ordering: .acquiringAndReleasing) else { return }
    ends?.writing.close()
  }

  /// Waits until one of the descriptors can be read or, for `writable`, written, or until the signal is set.
  ///
  /// - Parameter deadline: nil waits without end.
  /// - Returns: false if the deadline has passed.
  func wait(
    reading: [Descriptor], writing: Descriptor? = nil, until deadline: ContinuousClock.Instant? = nil
  ) -> Bool {
    while !isSet {
      var entries = reading.map { pollfd(fd: $0.value, events: Int16(POLLIN), revents: 0) }
      if let writing { entries.append(pollfd(fd: writing.value, events: Int16(POLLOUT), revents: 0)) }
      if let ends { entries.append(pollfd(fd: ends.reading.value, events: Int16(POLLIN), revents: 0)) }
      let left = deadline.map { ($0 - .now) / .milliseconds(1) }
      if let left, left <= 0 { return false }
      // A signal that was lost for want of descriptors is seen after half a second.
      let longest = ends == nil ? 500.0 : 3_600_000.0
      if poll(&entries, nfds_t(entries.count), Int32(min(left ?? longest, longest).rounded(.up))) > 0 { return true }
    }
    return true
  }
}
