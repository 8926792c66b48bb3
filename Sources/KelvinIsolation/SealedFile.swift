internal import CKelvinSupport
import Glibc

/// A file in memory whose size cannot change. It is closed with the last reference.
package final class SealedFile: Sendable {
  package let descriptor: Int32

  private init(_ descriptor: Int32) throws(WorkerFailure) {
    guard descriptor >= 0 else {
      throw WorkerFailure(.unavailable, "no file in memory can be created: \(String(cString: strerror(errno)))")
    }
    self.descriptor = descriptor
  }

  /// Creates a file of zeros.
  package convenience init(byteCount: Int) throws(WorkerFailure) { try self.init(ck_sealed_file(nil, byteCount)) }

  /// Creates a file with these bytes, which must not be empty.
  package convenience init(copying bytes: UnsafeRawBufferPointer) throws(WorkerFailure) {
    try self.init(ck_sealed_file(bytes.baseAddress, bytes.count))
  }

  deinit { close(descriptor) }

  /// Copies the first `count` bytes.
  package func bytes(_ count: Int) throws(WorkerFailure) -> [UInt8] {
    var done = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
      while done < count {
        let got = pread(descriptor, target.baseAddress.map { $0 + done }, count - done, off_t(done))
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { break }
        done += got
      }
      initialized = done
    }
    guard done == count else { throw .invalidAnswer }
    return bytes
  }
}
