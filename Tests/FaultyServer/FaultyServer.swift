import FoundationEssentials
import Glibc
import Synchronization
package import TestSupport

/// A web server on the loopback interface with faults, described in `server.py`. It ends with the last reference. All
/// servers of a process are in one other process.
package final class FaultyServer: Sendable {
  /// A request that the server got.
  package struct Request: Decodable, Sendable {
    package let path: String
    package let host: String?
    package let range: String?
    package let authorization: String?
    package let condition: String?
  }

  /// The files that the server serves.
  package let folder = TemporaryFolder()
  /// The port; 0 if the server did not start.
  package let port: Int
  private let isStopped = Atomic(false)

  private let isEncrypted: Bool
  package static let isAvailable = PageTool.hasPython && getenv("http_proxy") == nil
  package static let reason = "needs python3, which runs the server, and no proxy"

  /// - Parameter isEncrypted: Whether the server uses TLS, with a certificate that it makes.
  package init(isEncrypted: Bool = false) {
    self.isEncrypted = isEncrypted
    port = Int(Self.order("serve\(isEncrypted ? "-tls" : "") \(folder.path)")) ?? 0
  }

  /// The file of the certificate.
  package var certificate: String { "\(folder.path)/.cert.pem" }

  deinit { stop() }

  /// Ends the server. Later connections are refused.
  package func stop() {
    guard !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    _ = Self.order("stop \(port)")
  }

  /// The requests so far.
  package var requests: [Request] {
    let log = String(decoding: TemporaryFolder.read("\(folder.path)/.log"), as: UTF8.self)
    return log.split(separator: "\n").compactMap { try? JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
  }

  package func url(_ path: String) -> String { "http\(isEncrypted ? "s" : "")://127.0.0.1:\(port)/\(path)" }

  // MARK: The process

  /// Standard input and output of the process, which ends with this one.
  private static let connection = Mutex(start())

  private static func start() -> Int32 {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return -1 }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    let words = ["python3", "\(PageTool.root)/Tests/FaultyServer/server.py"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    posix_spawnp(&process, "python3", &actions, nil, &arguments, environ)
    close(ends[1])
    return ends[0]
  }

  /// Sends a line to the process, and returns its answer.
  private static func order(_ line: String) -> String {
    connection.withLock { connection in
      let bytes = Array("\(line)\n".utf8)
      guard write(connection, bytes, bytes.count) == bytes.count else { return "" }
      var answer: [UInt8] = []
      var byte: UInt8 = 0
      while read(connection, &byte, 1) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
      return String(decoding: answer, as: UTF8.self)
    }
  }
}
