import Kelvin
import KelvinBasics
import Synchronization

/// A source of frames in order. One caller at a time uses it.
protocol FrameReader: AnyObject {
  /// Waits for the next frame; nil at the end.
  func next() throws(VideoError) -> VideoFrame?
  /// Ends the source: child processes are killed. Later calls of `next` return nil.
  func close()
  /// Has frames decoded only within a part; the pixels outside are zero.
  ///
  /// - Parameter part: In stored pixels, with even `x` and `y`.
  /// - Returns: false, without an effect, if decoding has begun or the reader gives whole frames only.
  func decode(only part: PixelRect) -> Bool
}

extension FrameReader {
  func decode(only part: PixelRect) -> Bool { false }
}

/// Notes for the user, each once.
final class RemarkList: Sendable {
  private static let most = 100
  private let lines: Mutex<[String]>

  init(_ lines: [String] = []) { self.lines = Mutex(lines) }

  var all: [String] { lines.withLock(\.self) }

  func add(_ line: String) {
    lines.withLock { lines in
      let line = line.printableMessage
      if lines.count < Self.most, !lines.contains(line) { lines.append(line) }
    }
  }
}
