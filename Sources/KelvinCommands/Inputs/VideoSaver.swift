import Kelvin
import KelvinBasics
import KelvinVideo
import KelvinVision
import Synchronization

/// A writer of the sources' videos with the observations drawn on their frames.
final class VideoSaver: Sendable {
  private enum Target: Sendable {
    case file(VideoWriter, path: String)
    case frames(RawFrameWriter)
  }

  private let targets: [Target]
  private let labels: [String]
  /// The error of a target that can write no more.
  private let failure = Mutex<VideoError?>(nil)

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
    let names = FileNames.all(sources.map(\.facts.name))
    targets = try zip(sources, names).map { source, name in
      let file = sources.count > 1 ? path.appendingPath("\(name).mp4") : path
      let facts = source.facts
      let writer = try VideoWriter(
        to: file, width: facts.uprightWidth, height: facts.uprightHeight, framesPerSecond: facts.framesPerSecond,
        audioFrom: source)
      return .file(writer, path: file)
    }
  }

  /// Draws the observations on the frame of an answer, and writes it.
  ///
  /// - Throws: `VisionError`; `VideoError` if nothing more can be written, which ends the stream.
  func write(_ answer: VideoAnalysis.Answer, _ shown: Result<VideoObservations, VisionError>) throws {
    guard let image = answer.image else { return }
    let drawn =
      if case .success(let observations) = shown {
        try image.drawing(observations, orientation: answer.orientation, labels: labels)
      } else {
        try image.drawing([RecognizedObjectObservation](), orientation: answer.orientation)
      }
    var isRead = true
    do throws(VideoError) {
      switch targets[answer.source] {
      case .file(let writer, _): try writer.write(drawn, time: answer.time)
      case .frames(let writer): isRead = try writer.write(drawn)
      }
    } catch {
      failure.withLock { $0 = $0 ?? error }
      throw error
    }
    // The reader of the pipe has ended, as a player that is closed does.
    if !isRead { throw ReportedFailure(status: .success) }
  }

  /// Completes the files.
  ///
  /// - Returns: the first error.
  func finish() -> VideoError? {
    for target in targets {
      guard case .file(let writer, let path) = target else { continue }
      do throws(VideoError) {
        try writer.finish()
        Console.note("the video is in '\(path)'")
      } catch { failure.withLock { $0 = $0 ?? error } }
    }
    return failure.withLock { $0 }
  }

  /// Completes the files as far as they go, after an error.
  func abandon() { _ = finish() }
}
