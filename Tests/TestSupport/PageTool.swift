import FoundationEssentials
import Glibc

/// Runs the project's Python tools on files of tests.
package enum PageTool {
  package static let root: String = {
    let parts = #filePath.split(separator: "/")
    return "/" + parts.dropLast(3).joined(separator: "/")
  }()
  package static let hasPython = isInstalled("python3")
  package static let hasChromium = ["chromium", "chromium-browser", "google-chrome"].contains { isInstalled($0) }

  private static func isInstalled(_ program: String) -> Bool {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return folders.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Runs a tool on a temporary file.
  ///
  /// - Parameters:
  ///   - tool: the script, from the project's root, and its first arguments.
  ///   - suffix: of the file's name.
  /// - Returns: its exit status, and what it wrote to either stream.
  package static func run(
    _ tool: String..., on bytes: [UInt8], suffix: String
  ) throws -> (status: Int32, output: String) {
    let name = FileManager.default.temporaryDirectory.path + "/kelvin-\(UInt64.random(in: 0 ... .max))"
    let (file, log) = (name + suffix, name + ".log")
    try Data(bytes).write(to: URL(filePath: file))
    defer {
      unlink(file)
      unlink(log)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let words = ["python3", "\(root)/\(tool[0])"] + tool.dropFirst() + [file]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let failure = posix_spawnp(&process, "python3", &actions, nil, &arguments, environ)
    guard failure == 0 else { return (127, String(cString: strerror(failure))) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let output = String(decoding: try Data(contentsOf: URL(filePath: log)), as: UTF8.self)
    return (status & 0x7F == 0 ? (status >> 8) & 0xFF : 128, output)
  }
}
