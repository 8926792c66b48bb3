import Glibc
import Kelvin
import KelvinBasics
import KelvinVideo
import KelvinVision
import Synchronization

/// A writer of the sources' videos with the observations drawn on their frames.
final class VideoSaver: Sendable {
  private enum Target: Sendable {
    case file(VideoWriter)
    case frames(RawFrameWriter)
  }

  private let targets: [Target]
  private let labels: [String]
  /// The error of a target that can write no more.
  private let failure = Mutex<VideoError?>(nil)

  /// The extensions of videos, which a folder should not have.
  private static let endings = [".mp4", ".m4v", ".mov", ".mkv", ".webm"]

  /// Returns the path of the video of each source; an empty array for frames on standard output.
  ///
  /// - Parameter path: As for `init`.
  /// - Throws: `UsageError` for several sources and a path that looks like that of a file.
  static func files(_ path: String, _ sources: [VideoSource]) throws -> [String] {
    guard path != "-" else { return [] }
    guard sources.count > 1 else { return [path] }
    var status = stat()
    let isFolder = stat(path.pathBytes, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    let ending = path.lastPathPart.dropFirst(path.pathStem.count).lowercased()
    guard isFolder || !endings.contains(ending) else {
      throw UsageError("--save takes a folder for \(sources.count) sources; '\(path)' looks like a file")
    }
    return FileNames.all(sources.map(\.facts.name)).map { path.appendingPath("\($0).mp4") }
  }

  /// - Parameters:
  ///   - path: The file; the folder for several sources; `-` for frames on standard output.
  /// - Throws: `VideoError`, `ModelError` for a folder that cannot be made.
  init(_ path: String, _ sources: [VideoSource], _ request: VideoRequest) throws {
    labels = if case .detection(let detection) = request { detection.labels ?? [] } else { [] }
    if path == "-" {
      let facts = sources[0].facts
      targets = [
        .frames(
          try RawFrameWriter(
            to: 1, width: facts.uprightWidth, height: facts.uprightHeight, framesPerSecond: facts.framesPerSecond))
      ]
      return
    }
    if sources.count > 1 { try LocalFile.makeFolder(path) }
    targets = try zip(sources, Self.files(path, sources)).map { source, file in
      let facts = source.facts
      return .file(
        try VideoWriter(
          to: file, width: facts.uprightWidth, height: facts.uprightHeight, framesPerSecond: facts.framesPerSecond,
          audioFrom: source))
    }
    LimitGuard.setPartialFiles(
      targets.compactMap { if case .file(let writer) = $0 { writer.partialPath } else { nil } })
  }

  /// Draws the observations on the frame of an answer, and writes it.
  ///
  /// - Returns: false if the reader of the frames has closed them, as a player does, so that nothing more is written.
  /// - Throws: `VisionError`; `VideoError` if nothing more can be written.
  func write(_ answer: VideoAnalysis.Answer, _ shown: Result<VideoObservations, VisionError>) throws -> Bool {
    guard let image = answer.image else { return true }
    let drawn =
      if case .success(let observations) = shown {
        try image.drawing(observations, orientation: answer.orientation, labels: labels)
      } else {
        try image.drawing([RecognizedObjectObservation](), orientation: answer.orientation)
      }
    do throws(VideoError) {
      switch targets[answer.source] {
      case .file(let writer): try writer.write(drawn, time: answer.time)
      case .frames(let writer): return try writer.write(drawn)
      }
      return true
    } catch {
      failure.withLock { $0 = $0 ?? error }
      throw error
    }
  }

  /// Completes the files, and prints notes about them.
  ///
  /// - Returns: the first error.
  func finish() -> VideoError? {
    for target in targets {
      guard case .file(let writer) = target else { continue }
      do throws(VideoError) {
        try writer.finish()
        if writer.frameCount > 0 { Console.note("the video is in '\(writer.path)'") }
      } catch { failure.withLock { $0 = $0 ?? error } }
      writer.remarks.forEach(Console.note)
    }
    LimitGuard.setPartialFiles([])
    return failure.withLock { $0 }
  }

  /// Completes the files as far as they go, after an error.
  func abandon() { _ = finish() }
}
