public import FoundationEssentials
import Glibc
import KelvinBasics

/// An error of reading a video, a camera or images, or of writing a video.
public struct VideoError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: String, Hashable, Sendable {
    /// A name, an option or the extension of an output file is not valid.
    case request
    /// There is no such file, folder, camera or server.
    case absent
    /// The source exists, and no frame can be read from it: it is not a video, it is damaged, or it is too large.
    case unreadable
    /// The source ended before its end: the file is truncated, the server stopped, or the camera was removed.
    case endedEarly
    /// A live source sent nothing for the time limit.
    case silent
    /// ffmpeg or ffprobe is not installed.
    case toolMissing
    /// ffmpeg or ffprobe cannot be started, was ended by a signal, or gave an answer that cannot be read.
    case toolFailed
    /// There is no space left for the output.
    case noSpace
    /// The output cannot be written.
    case io
  }

  /// The kind of the error.
  public let code: Code
  /// One line with the source, the position, the expected and the actual value, and a remedy. Names from outside are
  /// escaped so that they cannot affect a terminal or a log.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description.printableMessage
  }

  /// - Parameter error: an error of a file that is written.
  init(writing error: FileError) {
    self.init([ENOSPC, EDQUOT, EFBIG].contains(error.code) ? .noSpace : .io, error.description)
  }
}

extension VideoError: LocalizedError {
  /// The description, which `localizedDescription` returns.
  public var errorDescription: String? { description }
  /// The remedy: what follows the last semicolon of the description; nil if there is none.
  public var recoverySuggestion: String? { description.remedy }
}
