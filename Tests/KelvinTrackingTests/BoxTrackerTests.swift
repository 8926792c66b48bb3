import KelvinBasics
import KelvinTracking
import Testing

/// Tracks of boxes with known paths, at 30 frames per second where nothing else is said.
@Suite struct BoxTrackerTests {
  private static func box(_ x: Double, _ y: Double = 100, score: Double = 0.9, label: Int = 0) -> TrackedBox {
    TrackedBox(x: x, y: y, width: 40, height: 80, score: score, label: label)
  }

  private static func time(_ frame: Int) -> Double { Double(frame) / 30 }

  /// Returns the ids of the boxes of each frame.
  private static func ids(
    _ tracker: inout BoxTracker, _ frames: Range<Int>, _ boxes: (Int) -> [TrackedBox]
  ) -> [[Int?]] {
    frames.map { frame in tracker.update(boxes(frame), at: time(frame)).map(\.id) }
  }

  @Test func boxesOfTheFirstFrameHaveIdsAndKeepThem() {
    var tracker = BoxTracker()
    let ids = Self.ids(&tracker, 0..<60) { [Self.box(100 + 3 * Double($0)), Self.box(600 - 2 * Double($0))] }
    #expect(ids[0].compactMap { $0 }.sorted() == [1, 2])
    #expect(ids.allSatisfy { $0 == ids[0] })
  }

  @Test func objectsThatCrossKeepTheirIds() {
    var tracker = BoxTracker()
    let ids = Self.ids(&tracker, 0..<80) {
      [Self.box(100 + 5 * Double($0), 100), Self.box(500 - 5 * Double($0), 112)]
    }
    #expect(ids.allSatisfy { $0 == ids[0] })
  }

  @Test(arguments: [1, 5, 12, 25])
  func hiddenObjectKeepsItsId(hiddenFrames: Int) {
    var tracker = BoxTracker()
    func boxes(_ frame: Int) -> [TrackedBox] {
      (40..<(40 + hiddenFrames)).contains(frame) ? [] : [Self.box(100 + 6 * Double(frame))]
    }
    let ids = Self.ids(&tracker, 0..<(40 + hiddenFrames), boxes)
    #expect(ids[39] == [1])
    let back = tracker.update(boxes(40 + hiddenFrames), at: Self.time(40 + hiddenFrames))
    #expect(back.map(\.id) == [1] && back[0].isFoundAgain)
    #expect(!tracker.update(boxes(41 + hiddenFrames), at: Self.time(41 + hiddenFrames))[0].isFoundAgain)
  }

  @Test func objectThatStoppedWhileHiddenIsFoundByItsLatestBox() {
    var tracker = BoxTracker()
    // At 6 a frame, the estimate is more than a width ahead after the gap.
    let ids = Self.ids(&tracker, 0..<50) { frame in
      (30..<40).contains(frame) ? [] : [Self.box(100 + 6 * Double(min(frame, 30)))]
    }
    #expect(ids[29] == [1] && ids[40...].allSatisfy { $0 == [1] })
  }

  @Test func hiddenObjectIsFoundAgainByABoxWithALowScore() {
    var tracker = BoxTracker()
    let ids = Self.ids(&tracker, 0..<40) { frame in
      (30..<36).contains(frame) ? [] : [Self.box(100, score: frame < 30 ? 0.9 : 0.2)]
    }
    #expect(ids[36...].allSatisfy { $0 == [1] })
  }

  @Test func objectHiddenForLongerThanTracksAreKeptHasANewId() {
    var tracker = BoxTracker()
    _ = Self.ids(&tracker, 0..<30) { _ in [Self.box(100)] }
    var ended: [Int?] = []
    for frame in 30..<70 {
      _ = tracker.update([], at: Self.time(frame))
      ended += tracker.ended.map(\.id)
    }
    #expect(ended == [1] && tracker.tracks.isEmpty)
    let ids = Self.ids(&tracker, 70..<73) { _ in [Self.box(100)] }
    #expect(ids == [[nil], [2], [2]])
  }

  @Test func trackSurvivesScoresThatAreTooLowToStartOne() {
    var tracker = BoxTracker()
    let ids = Self.ids(&tracker, 0..<40) { [Self.box(100 + 2 * Double($0), score: $0 < 10 ? 0.9 : 0.2)] }
    #expect(ids.allSatisfy { $0 == [1] })
    var other = BoxTracker()
    let none = Self.ids(&other, 0..<40) { _ in [Self.box(100, score: 0.4)] }
    #expect(none.allSatisfy { $0 == [nil] } && other.tracks.isEmpty)
  }

  @Test func boxOfASingleFrameHasNoId() {
    var tracker = BoxTracker()
    let ids = Self.ids(&tracker, 0..<10) { $0 == 5 ? [Self.box(100), Self.box(500)] : [Self.box(100)] }
    #expect(ids[5] == [1, nil] && tracker.tracks.map(\.id) == [1])
  }

  @Test func confirmationTakesTheGivenNumberOfUpdates() {
    var options = TrackerOptions()
    options.updatesUntilConfirmed = 4
    var tracker = BoxTracker(options)
    let ids = Self.ids(&tracker, 0..<8) { $0 == 0 ? [] : [Self.box(100)] }
    #expect(ids.dropFirst() == [[nil], [nil], [nil], [1], [1], [1], [1]])
  }

  @Test func classesAreNotMixedUnlessOneIsUnknown() {
    var tracker = BoxTracker()
    let ids = Self.ids(&tracker, 0..<20) { [Self.box(100, label: $0 < 10 ? 1 : 2)] }
    #expect(ids[9] == [1] && ids[10] == [nil] && ids[11] == [2])
    var other = BoxTracker()
    let kept = Self.ids(&other, 0..<20) { [Self.box(100, label: $0 < 10 ? 1 : -1)] }
    #expect(kept.allSatisfy { $0 == [1] } && other.tracks[0].label == 1)
    var options = TrackerOptions()
    options.labelsMustAgree = false
    var free = BoxTracker(options)
    let mixed = Self.ids(&free, 0..<20) { [Self.box(100, label: $0 % 2)] }
    #expect(mixed.allSatisfy { $0 == [1] })
  }

  @Test func predictionUsesTheRealTimeBetweenFrames() {
    // 4 widths per second: 0.4 widths from frame to frame at 10 frames/s, and 2 widths in a gap of half a second.
    var tracker = BoxTracker()
    var times = (0..<20).map { Double($0) / 10 }
    times += [2.4, 2.5, 2.6, 3.1]
    let ids = times.map { tracker.update([Self.box(160 * $0)], at: $0).map(\.id) }
    #expect(ids.allSatisfy { $0 == [1] })
  }

  @Test func equalObjectsHaveDifferentIds() {
    var tracker = BoxTracker()
    let ids = Self.ids(&tracker, 0..<20) { _ in [Self.box(100), Self.box(100)] }
    #expect(ids.allSatisfy { Set($0) == [1, 2] })
  }

  /// Random objects that come, go, and are missed, with false boxes. Boxes are distinct.
  private static func scene(seed: UInt64) -> [[TrackedBox]] {
    var random = SeededGenerator(seed: seed)
    let objects = (0..<12).map { _ -> (start: Double, speed: Double, row: Double, frames: Range<Int>) in
      let (start, speed) = (random.unit() * 900, random.unit() * 12 - 6)
      let from = random.index(below: 60)
      let frames = from..<(from + 20 + random.index(below: 60))
      return (start: start, speed: speed, row: random.unit() * 500, frames: frames)
    }
    return (0..<120).map { frame in
      var boxes = objects.filter { $0.frames.contains(frame) && random.unit() > 0.15 }.map { object in
        box(
          object.start + object.speed * Double(frame) + random.unit() * 4, object.row + random.unit() * 4,
          score: 0.3 + 0.7 * random.unit())
      }
      if random.unit() < 0.4 { boxes.append(box(random.unit() * 900, random.unit() * 500, score: random.unit())) }
      return boxes
    }
  }

  @Test func orderOfBoxesHasNoEffect() {
    var random = SeededGenerator(seed: 3)
    for seed in 1...4 as ClosedRange<UInt64> {
      var (straight, shuffled) = (BoxTracker(), BoxTracker())
      for (frame, boxes) in Self.scene(seed: seed).enumerated() {
        let ids = straight.update(boxes, at: Self.time(frame))
        let order = boxes.indices.shuffled(using: &random)
        let others = shuffled.update(order.map { boxes[$0] }, at: Self.time(frame))
        #expect(order.map { ids[$0] } == others)
      }
      #expect(straight.tracks.map(\.id) == shuffled.tracks.map(\.id))
    }
  }

  @Test func idsCountUpAndAreNeverUsedAgain() {
    for seed in 1...4 as ClosedRange<UInt64> {
      var tracker = BoxTracker()
      var ended: Set<Int> = []
      var largest = 0
      for (frame, boxes) in Self.scene(seed: seed).enumerated() {
        let ids = tracker.update(boxes, at: Self.time(frame)).compactMap(\.id)
        #expect(Set(ids).count == ids.count && ended.isDisjoint(with: ids))
        let new = ids.filter { $0 > largest }.sorted()
        #expect(new == Array((largest + 1)..<(largest + 1 + new.count)))
        largest = max(largest, new.last ?? 0)
        ended.formUnion(tracker.ended.compactMap(\.id))
      }
      #expect(largest >= 8 && ended.count >= 4)
    }
  }

  @Test func trackHasTheTimesAndTheNumberOfItsBoxes() {
    var tracker = BoxTracker()
    _ = Self.ids(&tracker, 0..<20) { $0 % 4 == 3 ? [] : [Self.box(100, score: $0 == 8 ? 0.95 : 0.8, label: 7)] }
    let track = tracker.tracks[0]
    #expect(track.boxCount == 15 && track.firstTime == 0 && track.lastTime == Self.time(18))
    #expect(track.label == 7 && track.bestScore == 0.95 && track.isLost)
  }

  @Test func estimateIsNearerToThePathThanTheBoxes() {
    var random = SeededGenerator(seed: 5)
    var tracker = BoxTracker()
    var (raw, smoothed) = (0.0, 0.0)
    for frame in 0..<300 {
      let right = 100 + 2 * Double(frame)
      let box = Self.box(right + (random.unit() - 0.5) * 12)
      let estimate = tracker.update([box], at: Self.time(frame))[0].estimate
      guard frame > 30 else { continue }
      raw += abs(box.x - right)
      smoothed += abs(estimate.x - right)
    }
    #expect(smoothed < 0.8 * raw)
  }
}
