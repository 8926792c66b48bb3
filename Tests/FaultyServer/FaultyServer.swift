import FoundationEssentials
import Glibc
import Synchronization
package import TestSupport

/// A web server on the loopback interface with faults, described in `server.py`. It ends with the last reference.
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
  private let process: pid_t
  /// Its standard input and output.
  private let connection: Int32
  private let isStopped = Atomic(false)

  package static let isAvailable = PageTool.hasPython
  package static let reason = "needs python3, which runs the server"

  package init() {
    var ends: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      (process, connection, port) = (0, -1, 0)
      return
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    let words = ["python3", "\(PageTool.root)/Tests/FaultyServer/server.py", folder.path]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    posix_spawnp(&process, "python3", &actions, nil, &arguments, environ)
    close(ends[1])
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(ends[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
    (self.process, connection) = (process, ends[0])
    port = Int(String(decoding: line, as: UTF8.self)) ?? 0
  }

  deinit { stop() }

  /// Ends the server. Later connections are refused.
  package func stop() {
    guard process > 0, !isStopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
    kill(process, SIGKILL)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    close(connection)
  }

  /// The requests so far.
  package var requests: [Request] {
    let log = String(decoding: TemporaryFolder.read("\(folder.path)/.log"), as: UTF8.self)
    return log.split(separator: "\n").compactMap { try? JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
  }

  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }
}
