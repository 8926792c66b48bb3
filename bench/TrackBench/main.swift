import FoundationEssentials
import Glibc

/// Tracks the boxes of one stream, for `bench/tracking.py`, which compiles it together with the sources of
/// `KelvinTracking`.
///
///     TrackBench [OPTIONS.json] < boxes.jsonl > ids.jsonl
///
/// A line of the input is a frame: `{"time": seconds, "boxes": [[x, y, width, height, score, label], …]}`. A line with
/// `"reset": true` begins another stream. A line of the output has `[id, x, y, width, height]` for each box, with the
/// estimated box, or null for a box without a track. The seconds of all updates go to standard error.
struct Frame: Decodable {
  let time: Double
  let boxes: [[Double]]
  let reset: Bool?
}

func fail(_ reason: String) -> Never {
  _ = "TrackBench: \(reason)\n".withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
  exit(64)
}

do {
  var options = TrackerOptions()
  if CommandLine.arguments.count > 1 {
    let file = try Data(contentsOf: URL(filePath: CommandLine.arguments[1]))
    options = try JSONDecoder().decode(TrackerOptions.self, from: file)
  }
  var tracker = BoxTracker(options)
  var elapsed = Duration.zero
  let clock = ContinuousClock()
  while let line = readLine() {
    let frame = try JSONDecoder().decode(Frame.self, from: Data(line.utf8))
    if frame.reset == true { tracker = BoxTracker(options) }
    let boxes = frame.boxes.map { values -> TrackedBox in
      guard values.count == 6 else { fail("a box has \(values.count) values; expected 6") }
      return TrackedBox(
        x: values[0], y: values[1], width: values[2], height: values[3], score: values[4], label: Int(values[5]))
    }
    var answers: [BoxTracker.Assignment] = []
    elapsed += clock.measure { answers = tracker.update(boxes, at: frame.time) }
    let lines = answers.map { answer -> String in
      let box = answer.estimate
      return answer.id.map { "[\($0),\(box.x),\(box.y),\(box.width),\(box.height)]" } ?? "null"
    }
    print("[" + lines.joined(separator: ",") + "]")
  }
  let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
  _ = "\(seconds)\n".withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
} catch { fail("\(error)") }
