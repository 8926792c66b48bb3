import Glibc
import TestSupport

/// A server of RTSP on the loopback interface, described in `rtsp_server.py`. It ends with the last reference.
package final class RTSPServer: Sendable {
  /// The action of the server after the last packet.
  package enum Behaviour: String, Sendable { case stop, silence }

  /// The port; 0 if the server did not start.
  package let port: Int
  private let input: Int32
  private let process: pid_t

  /// - Parameters:
  ///   - path: the MPEG transport stream that it sends.
  ///   - packets: the number of RTP packets for each connection but the first.
  package init(_ path: String, _ behaviour: Behaviour, packets: Int) {
    var (input, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    var process: pid_t = 0
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    pipe(&input)
    pipe(&output)
    for descriptor in [input[1], output[0]] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    posix_spawn_file_actions_addclose(&actions, input[0])
    posix_spawn_file_actions_addclose(&actions, output[1])
    let script = "\(PageTool.root)/Tests/FaultyServer/rtsp_server.py"
    let words = ["python3", script, path, behaviour.rawValue, "\(packets)"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    posix_spawnp(&process, "python3", &actions, nil, &arguments, environ)
    close(input[0])
    close(output[1])
    var (answer, byte): ([UInt8], UInt8) = ([], 0)
    while read(output[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
    close(output[0])
    port = Int(String(decoding: answer, as: UTF8.self)) ?? 0
    (self.input, self.process) = (input[1], process)
  }

  deinit {
    close(input)
    if process > 0 { waitpid(process, nil, 0) }
  }
}
