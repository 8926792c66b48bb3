import FoundationEssentials
import Glibc
import KelvinVideo
import TestSupport

/// Clips that ffmpeg's own generators make, and the answers of ffprobe about them.
enum Clips {
  static let isAvailable = has("ffmpeg") && has("ffprobe")
  static let reason = "needs ffmpeg and ffprobe, which are not installed: apt-get install ffmpeg"

  static func has(_ program: String) -> Bool {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return folders.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Runs a program to its end.
  static func run(_ words: [String]) -> (status: Int32, output: [UInt8]) {
    let folder = TemporaryFolder()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "\(folder.path)/output", O_WRONLY | O_CREAT, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var process: pid_t = 0
    guard posix_spawnp(&process, words[0], &actions, nil, &arguments, environ) == 0 else { return (127, []) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return (status, TemporaryFolder.read("\(folder.path)/output"))
  }

  /// Writes a clip with ffmpeg.
  ///
  /// - Returns: the path of the clip.
  @discardableResult
  static func make(_ folder: TemporaryFolder, _ name: String, _ options: String...) -> String {
    let path = "\(folder.path)/\(name)"
    let words = options.flatMap { $0.split(separator: " ").map { String($0) } }
    _ = run(["ffmpeg", "-v", "error", "-nostdin", "-y"] + words + ["file:\(path)"])
    return path
  }

  static func source(_ text: String) -> String { "-f lavfi -i \(text)" }

  /// The timestamps of the frames, in the time base of the stream.
  static func timestamps(_ path: String) -> [Int64] {
    let words = [
      "ffprobe", "-v", "error", "-select_streams", "V:0", "-show_entries", "frame=best_effort_timestamp", "-of",
      "default=nk=1:nw=1", "file:\(path)",
    ]
    return lines(run(words).output).compactMap { Int64($0) }
  }

  /// Entries of the first stream of a kind, for example `time_base`, as lines with name and value.
  static func entries(_ names: String, of path: String, stream: String = "v:0") -> [String] {
    let words = [
      "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "stream=\(names)", "-of", "default=nw=1",
      "file:\(path)",
    ]
    return lines(run(words).output)
  }

  /// The value of one entry; empty if there is none.
  static func entry(_ name: String, of path: String, stream: String = "v:0") -> String {
    entries(name, of: path, stream: stream).first.map { String($0.dropFirst(name.count + 1)) } ?? ""
  }

  /// The frames as red, green and blue, by ffmpeg's own conversion.
  static func colours(_ path: String, _ options: String...) -> [UInt8] {
    let words = ["ffmpeg", "-v", "error", "-nostdin", "-noautorotate", "-i", "file:\(path)"]
    return run(words + options + ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]).output
  }

  static func lines(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map { String($0) }
  }

  /// The running programs that have a word in their arguments.
  static func processes(naming word: String) -> [pid_t] {
    (TemporaryFolder.entries("/proc") ?? []).compactMap { pid_t($0) }.filter { process in
      process != getpid()
        && String(decoding: TemporaryFolder.read("/proc/\(process)/cmdline"), as: UTF8.self).contains(word)
    }
  }

  static func frames(_ source: VideoSource) throws(VideoError) -> [VideoFrame] {
    var frames: [VideoFrame] = []
    while let frame = try source.next() { frames.append(frame) }
    return frames
  }
}
