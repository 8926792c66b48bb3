/// An object that a `BoxTracker` follows.
package struct Track: Sendable {
  /// The number of the track in its stream, from 1; nil until the track is confirmed. A number is never used again.
  package internal(set) var id: Int?
  /// Whether the latest update had no box for the track.
  package var isLost: Bool { lostSince != nil }
  /// The label of the latest box with a known class; −1 if there was none.
  package private(set) var label: Int
  /// The highest score of a box of the track.
  package private(set) var bestScore: Double
  /// The time of the first box, in seconds.
  package let firstTime: Double
  /// The time of the latest box, in seconds.
  package private(set) var lastTime: Double
  /// The number of boxes.
  package private(set) var boxCount = 1
  /// The latest box, as it was detected.
  package private(set) var lastBox: TrackedBox
  /// The estimated box at the time of the latest update, with the score of the latest box.
  package var estimate: TrackedBox { motion.box(score: lastBox.score, label: label) }

  /// The time of the first update without a box.
  private(set) var lostSince: Double?
  private var motion: BoxMotion

  init(_ box: TrackedBox, at time: Double) {
    label = box.label
    bestScore = box.score
    firstTime = time
    lastTime = time
    lastBox = box
    motion = BoxMotion(box)
  }

  mutating func predict(_ seconds: Double) { motion.predict(seconds, isLost: isLost) }

  mutating func miss(at time: Double) { lostSince = lostSince ?? time }

  mutating func add(_ box: TrackedBox, at time: Double) {
    motion.correct(by: box)
    lostSince = nil
    lastTime = time
    lastBox = box
    boxCount += 1
    bestScore = max(bestScore, box.score)
    if box.label >= 0 { label = box.label }
  }
}
