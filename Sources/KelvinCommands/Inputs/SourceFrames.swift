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
    var source: VideoSource
    var reader: FeatureReader
    /// Whether the source has given a frame since it was opened.
    var hasFrames = false
  }
  private let state: Mutex<State>

  /// Opens a source.
  ///
  /// - Throws: `VideoError`.
  init(_ name: String, _ reader: FeatureReader) throws {
    let source = try VideoSource(name)
    self.name = source.facts.name
    framesPerSecond = source.facts.framesPerSecond
    state = Mutex(State(source: source, reader: reader))
  }

  func next(passingOver count: Int) throws -> any FeatureProvider {
    try state.withLock { state in
      for _ in 0..<count { _ = try frame(&state) }
      let frame = try frame(&state)
      return try state.reader.read(frame.image, orientation: frame.orientation)
    }
  }

  private func frame(_ state: inout State) throws -> VideoFrame {
    while true {
      if let frame = try state.source.next() {
        state.hasFrames = true
        return frame
      }
      let facts = state.source.facts
      guard state.hasFrames, !facts.isLive, facts.kind != .pipe else {
        throw ModelError(.io, "the source '\(name)' has ended; a benchmark needs a file, or a source that goes on")
      }
      state.source = try VideoSource(name)
      state.hasFrames = false
    }
  }
}
