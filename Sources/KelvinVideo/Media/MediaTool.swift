import Glibc
import KelvinBasics

/// The programs that decode and encode video, in processes of their own.
enum MediaTool: String {
  case ffmpeg
  case ffprobe

  /// Finds the program in the folders of `PATH`. Relative folders are skipped.
  ///
  /// - Throws: ``VideoError`` (`toolMissing`) with the command that installs it.
  func path(in folders: String? = getenv("PATH").map { String(path: $0) }) throws(VideoError) -> String {
    for folder in (folders ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") where folder.hasPrefix("/") {
      let program = String(folder).appendingPath(rawValue)
      var status = stat()
      if access(program.pathBytes, X_OK) == 0, stat(program.pathBytes, &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      {
        return program
      }
    }
    throw VideoError(
      .toolMissing,
      "the program '\(rawValue)', which reads and writes videos, is not in a folder of PATH; "
        + "install it: apt-get install ffmpeg")
  }

  /// Options of every run: errors only, no questions, no statistics.
  var quietly: [String] {
    switch self {
    case .ffmpeg: ["-hide_banner", "-loglevel", "repeat+error", "-nostdin", "-nostats"]
    case .ffprobe: ["-hide_banner", "-loglevel", "repeat+error"]
    }
  }
}

/// The version of ffmpeg, on which the names of options depend.
struct MediaVersion: Sendable {
  /// Major and minor number; nil for a build between releases, which is taken as a recent one.
  private let numbers: (Int, Int)?

  /// - Parameter text: The version, for example `5.1.9-0+deb12u1` or `N-109468-gd39b34123d`.
  init(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1).first?.split(separator: ".") ?? []
    guard let major = parts.first.flatMap({ Int($0) }), major < 100 else {
      numbers = nil
      return
    }
    numbers = (major, parts.dropFirst().first.flatMap { Int($0) } ?? 0)
  }

  private func isAtLeast(_ major: Int, _ minor: Int) -> Bool { numbers.map { $0 >= (major, minor) } ?? true }

  /// The options that pass every frame on with its own time.
  var keepingFrames: [String] { [isAtLeast(5, 1) ? "-fps_mode" : "-vsync", "passthrough"] }

  /// The option of the time limit of a connection by RTSP. `-timeout` meant something else before version 5.
  var rtspTimeout: String { isAtLeast(5, 0) ? "-timeout" : "-stimeout" }
}
