import KelvinTracking
import Testing

/// Boxes, times and options out of range.
@Suite struct BoxTrackerBadInputTests {
  private static let box = TrackedBox(x: 100, y: 100, width: 40, height: 80, score: 0.9)

  private static let unusable: [TrackedBox] = [
    TrackedBox(x: .nan, y: 0, width: 10, height: 10), TrackedBox(x: 0, y: .infinity, width: 10, height: 10),
    TrackedBox(x: 0, y: 0, width: -10, height: 10), TrackedBox(x: 0, y: 0, width: 0, height: 10),
    TrackedBox(x: 0, y: 0, width: 10, height: .nan), TrackedBox(x: 0, y: 0, width: 10, height: 10, score: .nan),
    TrackedBox(x: 1e300, y: 0, width: 10, height: 10), TrackedBox(x: 0, y: 0, width: 1e-300, height: 10),
  ]

  @Test func unusableBoxesHaveNoTrackAndDisturbNone() {
    var tracker = BoxTracker()
    for frame in 0..<10 {
      let answers = tracker.update(Self.unusable + [Self.box], at: Double(frame) / 30)
      #expect(answers.map(\.id) == Self.unusable.map { _ in nil } + [1])
    }
    #expect(tracker.tracks.count == 1)
  }

  @Test func extremeSidesDoNotBreakTheEstimate() {
    let extremes = [(1e-9, 1e9), (1e9, 1e-9), (1e9, 1e9), (1e-9, 1e-9)]
    var tracker = BoxTracker()
    for frame in 0..<40 {
      let (width, height) = extremes[frame % extremes.count]
      let box = TrackedBox(x: -1e9, y: 1e9, width: width, height: height, score: 7)
      let answer = tracker.update([box], at: Double(frame) * 1e12)[0]
      #expect(answer.estimate.isUsable || answer.estimate.x.isFinite)
    }
  }

  @Test func boxesBeyondTheLimitHaveNoTrack() {
    var options = TrackerOptions()
    options.maximumCount = 50
    var tracker = BoxTracker(options)
    let boxes = (0..<3000).map { index -> TrackedBox in
      let (x, y) = (Double(index % 60) * 50, Double(index / 60) * 100)
      return TrackedBox(x: x, y: y, width: 40, height: 80, score: index < 50 ? 0.95 : 0.9)
    }
    for frame in 0..<3 {
      let ids = tracker.update(boxes, at: Double(frame) / 30).map(\.id)
      #expect(Set(ids.prefix(50)) == Set(1...50) && ids.dropFirst(50).allSatisfy { $0 == nil })
    }
  }

  @Test func lostTracksAreLimited() {
    var options = TrackerOptions()
    options.maximumCount = 20
    options.updatesUntilConfirmed = 1
    options.secondsKept = 1e6
    var tracker = BoxTracker(options)
    for frame in 0..<100 {
      _ = tracker.update([TrackedBox(x: Double(frame) * 500, y: 0, width: 40, height: 80)], at: Double(frame))
    }
    #expect(tracker.tracks.compactMap(\.id) == Array(80...100))
  }

  @Test func boxesAtOnePlaceAreTrackedWithoutDelay() {
    var tracker = BoxTracker()
    let boxes = (0..<400).map { TrackedBox(x: 100 + Double($0) / 100, y: 100, width: 40, height: 80) }
    for frame in 0..<3 {
      #expect(Set(tracker.update(boxes, at: Double(frame) / 30).map(\.id)).count == 400)
    }
  }

  @Test func timeThatGoesBackALittleOrIsNotANumberCountsAsNoTime() {
    var tracker = BoxTracker()
    for time in [0, 0.1, 0.05, .nan, .infinity, 0.2, -0.5, 0.3] {
      #expect(tracker.update([Self.box], at: time).map(\.id) == [1])
    }
    #expect(tracker.tracks[0].lastTime == 0.3)
  }

  @Test func timeThatGoesBackFarEndsAllTracks() {
    var tracker = BoxTracker()
    for frame in 0..<5 { _ = tracker.update([Self.box], at: 100 + Double(frame) / 30) }
    let ids = (0..<3).map { tracker.update([Self.box], at: Double($0) / 30).map(\.id) }
    #expect(ids == [[nil], [2], [2]] && tracker.tracks[0].firstTime == 0)
  }

  @Test func optionOutOfRangeIsNamed() {
    func problem(_ change: (inout TrackerOptions) -> Void) -> String {
      var options = TrackerOptions()
      change(&options)
      return options.problem ?? "none"
    }
    #expect(TrackerOptions().problem == nil)
    #expect(problem { $0.highScore = 1.5 } == "highScore is 1.5; expected a number from 0 to 1")
    #expect(problem { $0.newTrackScore = .nan }.hasPrefix("newTrackScore is nan"))
    #expect(problem { $0.lowScore = 0.9 }.hasPrefix("lowScore is 0.9 and highScore is 0.5"))
    #expect(problem { $0.secondsKept = .infinity }.hasPrefix("secondsKept"))
    #expect(problem { $0.updatesUntilConfirmed = 0 }.hasPrefix("updatesUntilConfirmed"))
    #expect(problem { $0.maximumCount = 1 << 40 }.hasPrefix("maximumCount"))
  }
}
