/// Follows objects from frame to frame by the overlap and the motion of their boxes.
///
/// The association is that of ByteTrack (Zhang et al., ECCV 2022) with one step more:
///
/// 1. Confirmed tracks, lost ones included, and boxes with high scores.
/// 2. The confirmed tracks that are left, and boxes with low scores.
/// 3. The confirmed tracks that are left, by their latest box instead of the estimate: the recovery of OC-SORT (Cao et
///    al., "Observation-centric SORT", CVPR 2023), for objects that turned or stopped.
/// 4. Unconfirmed tracks. The boxes with high scores that are left begin tracks.
///
/// Each association is the one with the largest total gain. `BoxMotion` describes the motion.
///
/// Input is not trusted. A box that is not usable gets no track. If an update has more than
/// `TrackerOptions.maximumCount` boxes, those with the lowest scores get no track. A time that is not a number, or that
/// goes back by at most `secondsKept`, counts as the time of the previous update. A time that goes back further ends
/// all tracks, as after a jump in a file. The ids continue.
package struct BoxTracker: Sendable {
  /// The answer for a box.
  package struct Assignment: Sendable, Hashable {
    /// The id of the box's track, from 1; nil if the box has no track, or its track is not confirmed yet.
    package let id: Int?
    /// The seconds since the first box of the track; 0 without a track.
    package let age: Double
    /// The number of boxes of the track, this one included; 0 without a track.
    package let boxCount: Int
    /// Whether the track was lost at the previous update.
    package let isFoundAgain: Bool
    /// The smoothed box; the box itself without a track.
    package let estimate: TrackedBox
  }

  package let options: TrackerOptions
  /// The confirmed tracks after the latest update, in the order of their ids: those with a box in it, and lost ones.
  package var tracks: [Track] { followed.filter { $0.id != nil }.sorted { ($0.id ?? 0) < ($1.id ?? 0) } }
  /// The confirmed tracks that ended at the latest update.
  package private(set) var ended: [Track] = []

  /// The confirmed and the unconfirmed tracks, in the order of their first boxes.
  private var followed: [Track] = []
  private var lastTime: Double?
  private var lastID = 0

  /// Creates a tracker of one stream.
  ///
  /// - Precondition: `options.problem` is nil.
  package init(_ options: TrackerOptions = TrackerOptions()) {
    precondition(options.problem == nil, "TrackerOptions: \(options.problem ?? "")")
    self.options = options
  }

  /// Associates the boxes of a frame with tracks.
  ///
  /// - Parameters:
  ///   - boxes: The detected boxes. Their order has no effect on the answers.
  ///   - seconds: The time of the frame.
  /// - Returns: An assignment for each box, in the order of the boxes.
  package mutating func update(_ boxes: [TrackedBox], at seconds: Double) -> [Assignment] {
    ended = []
    let isFirst = lastTime == nil
    let time = advance(to: seconds)
    var frame = FrameMatches(boxes, trackCount: followed.count, options)

    let confirmed = followed.indices.filter { followed[$0].id != nil }
    let unconfirmed = followed.indices.filter { followed[$0].id == nil }
    let estimates = followed.map(\.estimate)
    let weight = options.scoreWeight
    frame.match(confirmed, to: \.high, at: estimates, least: options.highMatch, scoreWeight: weight)
    frame.match(confirmed, to: \.low, at: estimates, least: options.lowMatch)
    frame.match(confirmed, to: \.high, at: followed.map(\.lastBox), least: options.lastBoxMatch)
    frame.match(unconfirmed, to: \.high, at: estimates, least: options.unconfirmedMatch, scoreWeight: weight)

    let wereLost = followed.map(\.isLost)
    for index in followed.indices {
      if let box = frame.boxOfTrack[index] {
        followed[index].add(frame.boxes[box], at: time)
        if followed[index].id == nil, followed[index].boxCount >= options.updatesUntilConfirmed { confirm(index) }
      } else {
        followed[index].miss(at: time)
      }
    }
    for box in frame.high where frame.trackOfBox[box] == nil && frame.boxes[box].score >= options.newTrackScore {
      frame.trackOfBox[box] = followed.count
      followed.append(Track(frame.boxes[box], at: time))
      if isFirst || options.updatesUntilConfirmed == 1 { confirm(followed.count - 1) }
    }
    let answers = boxes.indices.map { box in
      guard let index = frame.trackOfBox[box] else {
        return Assignment(id: nil, age: 0, boxCount: 0, isFoundAgain: false, estimate: boxes[box])
      }
      let track = followed[index]
      return Assignment(
        id: track.id, age: time - track.firstTime, boxCount: track.boxCount,
        isFoundAgain: index < wereLost.count && wereLost[index], estimate: track.estimate)
    }
    end { $0.id == nil && $0.isLost }
    limitLostTracks()
    return answers
  }

  private mutating func confirm(_ index: Int) {
    lastID += 1
    followed[index].id = lastID
  }

  /// Moves all tracks to the time of a frame, ends those that were lost too long ago, and returns the time.
  private mutating func advance(to seconds: Double) -> Double {
    guard let previous = lastTime else {
      lastTime = seconds.isFinite ? seconds : 0
      return lastTime ?? 0
    }
    if seconds.isFinite, seconds < previous - options.secondsKept {
      end { _ in true }
      lastTime = seconds
      return seconds
    }
    let time = seconds.isFinite ? max(seconds, previous) : previous
    let kept = options.secondsKept
    end { $0.lostSince.map { time - $0 > kept } ?? false }
    for index in followed.indices { followed[index].predict(time - previous) }
    lastTime = time
    return time
  }

  /// Ends tracks. The condition is evaluated once for each.
  private mutating func end(_ isOver: (Track) -> Bool) {
    followed.removeAll { track in
      let isOver = isOver(track)
      if isOver, track.id != nil { ended.append(track) }
      return isOver
    }
  }

  private mutating func limitLostTracks() {
    let times = followed.compactMap(\.lostSince)
    guard times.count > options.maximumCount else { return }
    var surplus = times.count - options.maximumCount
    let latest = times.sorted()[surplus - 1]
    end { track in
      guard surplus > 0, let since = track.lostSince, since <= latest else { return false }
      surplus -= 1
      return true
    }
  }
}
