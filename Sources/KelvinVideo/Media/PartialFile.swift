import Glibc
import KelvinBasics

/// The file beside a result that holds what was written so far: `out.partial.mp4` for `out.mp4`. A file of an earlier
/// run is never overwritten.
struct PartialFile: Sendable {
  /// The path of the file.
  let path: String
  private let result: String

  /// Creates an empty file.
  ///
  /// - Parameter result: The path of the result.
  /// - Throws: ``VideoError``: `noSpace`, `io`.
  init(for result: String) throws(VideoError) {
    self.result = result
    var status = stat()
    if stat(result.pathBytes, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw VideoError(.request, "'\(result)' exists and is not a regular file; name another file")
    }
    for number in 1...1000 {
      let candidate = Self.sibling(of: result, number == 1 ? "partial" : "partial-\(number)")
      let file = open(candidate.pathBytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      if file >= 0 {
        close(file)
        path = candidate
        return
      }
      guard errno == EEXIST else {
        throw VideoError(writing: FileError(path: result, action: "write", code: errno))
      }
    }
    throw VideoError(.io, "'\(result)': there are 1000 partial files beside it; remove them")
  }

  /// Returns the name of another file beside this one.
  func sibling(_ word: String) -> String { Self.sibling(of: path, word) }

  private static func sibling(of path: String, _ word: String) -> String {
    let ending = path.lastPathPart.dropFirst(path.pathStem.count)
    return String(path.dropLast(ending.count)) + ".\(word)\(ending)"
  }

  func remove() { unlink(path.pathBytes) }

  /// Returns the number of frames in the file; 0 if it cannot be read.
  func frameCount() -> Int {
    let arguments = ["-count_packets", "-select_streams", "v:0", "-show_entries", "stream=nb_read_packets"]
    let input = ["-of", "default=nk=1:nw=1", "-protocol_whitelist", "file,pipe", "-i", "file:\(path)"]
    guard let run = try? MediaRun(.ffprobe, arguments + input, timeout: .seconds(60)) else { return 0 }
    let count = Int(String(decoding: run.output, as: UTF8.self).prefix { $0.isNumber }) ?? 0
    // A file that is cut short may end in a part of a frame.
    return run.messages.isEmpty ? count : max(0, count - 1)
  }

  /// Gives the file the name of the result, unless there is such a file.
  ///
  /// - Returns: The path of the file.
  func keep() -> String {
    // A link fails if the name exists.
    guard link(path.pathBytes, result.pathBytes) == 0 else { return path }
    unlink(path.pathBytes)
    return result
  }

  /// Replaces the result by a complete file, and removes this one.
  ///
  /// - Throws: ``VideoError``: `noSpace`, `io`. The existing result then stays.
  func replace(_ result: String, by complete: String) throws(VideoError) {
    let file = open(complete.pathBytes, O_RDONLY | O_CLOEXEC)
    let isKept = file >= 0 && fsync(file) == 0
    let code = errno
    if file >= 0 { close(file) }
    guard isKept else { throw VideoError(writing: FileError(path: result, action: "write", code: code)) }
    guard rename(complete.pathBytes, result.pathBytes) == 0 else {
      throw VideoError(writing: FileError(path: result, action: "write", code: errno))
    }
    if complete != path { remove() }
  }
}
