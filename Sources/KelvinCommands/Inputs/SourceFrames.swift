import FoundationEssentials
import Kelvin
import KelvinMeasuring
import KelvinVideo
import Synchronization

/// The frames of a video source as features of a model, over and over.
final class SourceFrames: BenchmarkFrames {
  let name: String
  /// The source's rate; nil if it is not known.
  let framesPerSecond: Double?

  private struct State: @unchecked Sendable {
    let source: VideoSource
    var reader: FeatureReader
  }
  private let state: Mutex<State>

  /// Opens a source.
  ///
  /// - Throws: `VideoError`.
  init(_ name: String, _ reader: FeatureReader) throws {
    var options = VideoSource.Options()
    options.repeats = true
    let source = try VideoSource(name, options: options)
    self.name = source.facts.name
    framesPerSecond = source.facts.framesPerSecond
    state = Mutex(State(source: source, reader: reader))
  }

  func next(passingOver count: Int) throws -> any FeatureProvider {
    try state.withLock { state in
      for _ in 0..<count { _ = try frame(of: state.source) }
      let frame = try frame(of: state.source)
      return try state.reader.read(frame.image, orientation: frame.orientation)
    }
  }

  private func frame(of source: VideoSource) throws -> VideoFrame {
    guard let frame = try source.next() else {
      throw ModelError(.io, "the source '\(name)' has ended; a benchmark needs a file, or a source that goes on")
    }
    return frame
  }
}
