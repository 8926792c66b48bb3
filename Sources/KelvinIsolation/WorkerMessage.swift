internal import CKelvinSupport
import Glibc

/// A message between a worker and its parent: strings, and at most one descriptor. The strings are separated by zero
/// bytes.
package struct WorkerMessage: Sendable {
  /// The version of the messages, with which a worker introduces itself.
  package static let version = "1"
  /// The largest message in bytes.
  static let maximumBytes = 1 << 16
  /// The largest number of bytes of a string that has no fixed length, such as the reason of an error.
  private static let maximumReasonBytes = 1 << 12

  package var fields: [String]
  /// A descriptor; -1 for none. In a received message it belongs to the receiver.
  package var descriptor: Int32

  package init(_ fields: [String], descriptor: Int32 = -1) {
    self.fields = fields
    self.descriptor = descriptor
  }

  /// Creates a message from its received bytes.
  package init(_ bytes: some Collection<UInt8>, descriptor: Int32) {
    let fields = bytes.split(separator: 0, omittingEmptySubsequences: false)
    self.init(fields.map { String(decoding: $0, as: UTF8.self) }, descriptor: descriptor)
  }

  /// Creates the answer to a request that failed. Nil becomes an empty string.
  package static func failed(_ fields: String?...) -> WorkerMessage {
    let bounded = fields.map { ($0 ?? "").utf8.prefix(maximumReasonBytes) }
    return WorkerMessage(["failed"] + bounded.map { String(decoding: $0, as: UTF8.self) })
  }

  /// Returns a field; an empty string for one that is absent.
  package subscript(_ index: Int) -> String { index < fields.count ? fields[index] : "" }

  /// Returns a field, or nil if it is empty.
  package func optional(_ index: Int) -> String? { self[index].isEmpty ? nil : self[index] }

  /// - Returns: An error number; 0 if the message was sent.
  func send(to socket: Int32) -> Int32 {
    let bytes = Array(fields.map { $0.utf8.filter { $0 != 0 } }.joined(separator: [0]))
    guard bytes.count <= Self.maximumBytes else { return EMSGSIZE }
    return ck_worker_send(socket, bytes, bytes.count, descriptor) == 0 ? 0 : errno
  }

  /// Waits for a message.
  ///
  /// - Parameters:
  ///   - seconds: The longest time to wait; below 0 for no limit.
  ///   - takesDescriptor: Whether a descriptor is accepted; otherwise it is discarded.
  /// - Returns: The message, or nil if the other side has ended.
  /// - Throws: The system's error number.
  static func receive(
    from socket: Int32, seconds: Double, takesDescriptor: Bool
  ) throws(WorkerMessageError) -> WorkerMessage? {
    var bytes = [UInt8](repeating: 0, count: maximumBytes)
    var descriptor: Int32 = -1
    let count =
      takesDescriptor
      ? ck_worker_receive(socket, &bytes, bytes.count, &descriptor, seconds)
      : ck_worker_receive(socket, &bytes, bytes.count, nil, seconds)
    guard count >= 0 else { throw WorkerMessageError(code: errno) }
    guard count > 0 else { return nil }
    return WorkerMessage(bytes.prefix(count), descriptor: descriptor)
  }
}

struct WorkerMessageError: Error {
  let code: Int32
}
