/// The boxes of a frame and the tracks that they were matched to.
struct FrameMatches {
  /// All boxes, with scores limited to 0…1.
  let boxes: [TrackedBox]
  /// The indices of the usable boxes with high scores, in the order of `TrackedBox.precedes`.
  let high: [Int]
  /// The same for low scores.
  let low: [Int]
  /// The track of each box, as an index.
  var trackOfBox: [Int?]
  /// The box of each track, as an index.
  private(set) var boxOfTrack: [Int?]
  private let options: TrackerOptions

  init(_ given: [TrackedBox], trackCount: Int, _ options: TrackerOptions) {
    let boxes = given.map { box in
      var box = box
      box.score = min(max(box.score, 0), 1)
      return box
    }
    let usable = given.indices.filter { given[$0].isUsable && boxes[$0].score >= options.lowScore }
      .sorted { TrackedBox.precedes(boxes[$0], boxes[$1]) }.prefix(options.maximumCount)
    self.boxes = boxes
    high = usable.filter { boxes[$0].score >= options.highScore }
    low = usable.filter { boxes[$0].score < options.highScore }
    trackOfBox = Array(repeating: nil, count: boxes.count)
    boxOfTrack = Array(repeating: nil, count: trackCount)
    self.options = options
  }

  /// Matches tracks that have no box to boxes that have no track.
  ///
  /// - Parameters:
  ///   - tracks: The indices of the tracks. A track with a box is skipped.
  ///   - group: The boxes to match.
  ///   - places: The box where each track of the tracker is expected.
  ///   - least: The smallest similarity of a track and its box.
  ///   - scoreWeight: The weight of the box's score in the similarity.
  mutating func match(
    _ tracks: [Int], to group: KeyPath<FrameMatches, [Int]>, at places: [TrackedBox], least: Double,
    scoreWeight: Double = 0
  ) {
    let rows = tracks.filter { boxOfTrack[$0] == nil }
    let columns = self[keyPath: group].filter { trackOfBox[$0] == nil }
    var candidates: [CandidatePair] = []
    for (row, track) in rows.enumerated() {
      let place = places[track]
      for (column, index) in columns.enumerated() {
        let box = boxes[index]
        let overlap = place.overlap(with: box)
        guard overlap > 0, !options.labelsMustAgree || place.agrees(with: box) else { continue }
        let gain = overlap * (1 - scoreWeight + scoreWeight * box.score) - least
        if gain > 0 { candidates.append(CandidatePair(row: row, column: column, gain: gain)) }
      }
    }
    let chosen = BestPairs.columns(for: candidates, rowCount: rows.count, columnCount: columns.count)
    for (row, column) in chosen.enumerated() {
      guard let column else { continue }
      boxOfTrack[rows[row]] = columns[column]
      trackOfBox[columns[column]] = rows[row]
    }
  }
}
