import Glibc
import Kelvin
import KelvinMeasuring

/// A pipe to or from a child process. Its descriptors do not collide with those of the child's standard streams and
/// answer.
struct ChildPipe {
  let reading: Int32
  private(set) var writing: Int32
  private(set) var isOpen = true

  init() throws(StartFailure) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw StartFailure("a pipe cannot be created:  \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // Moves both ends above the descriptors that the child uses.
    (reading, writing) = (Self.raised(ends[0]), Self.raised(ends[1]))
  }

  private static func raised(_ descriptor: Int32) -> Int32 {
    guard descriptor <= ChildProcess.answerDescriptor else { return descriptor }
    let higher = fcntl(descriptor, F_DUPFD_CLOEXEC, ChildProcess.answerDescriptor + 1)
    guard higher >= 0 else { return descriptor }
    Glibc.close(descriptor)
    return higher
  }

  mutating func closeWriting() {
    if writing >= 0 { Glibc.close(writing) }
    writing = -1
  }

  mutating func read(into bytes: inout [UInt8]) {
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = Glibc.read(reading, &buffer, buffer.count)
    if count > 0 { bytes += buffer.prefix(count) }
    if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { isOpen = false }
  }

  func close() {
    if writing >= 0 { Glibc.close(writing) }
    Glibc.close(reading)
  }
}
