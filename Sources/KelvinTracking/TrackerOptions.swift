/// The parameters of a `BoxTracker`.
///
/// The scores, the first three thresholds and the time are those of ByteTrack (Zhang et al., "ByteTrack: Multi-object
/// tracking by associating every detection box", ECCV 2022), with seconds instead of frames. A threshold is the
/// smallest similarity of a track and a box, 0…1; ByteTrack states the largest distance, which is 1 minus the similarity.
package struct TrackerOptions: Sendable, Hashable, Codable {
  /// The smallest score of the boxes that are associated first.
  package var highScore = 0.5
  /// The smallest score of the boxes that are associated second. Boxes with lower scores are not tracked.
  package var lowScore = 0.1
  /// The smallest score of a box that starts a track.
  package var newTrackScore = 0.6

  /// The smallest similarity of a confirmed track and a box with a high score.
  package var highMatch = 0.2
  /// The smallest overlap of a confirmed track and a box with a low score.
  package var lowMatch = 0.5
  /// The smallest similarity of an unconfirmed track and a box with a high score.
  package var unconfirmedMatch = 0.3
  /// The smallest overlap of the latest box of a confirmed track, without motion, and a box with a high score.
  package var lastBoxMatch = 0.3
  /// The weight w of the score s in the similarity, which is the overlap times 1 − w + w·s. It is 1 in ByteTrack.
  package var scoreWeight = 0.3

  /// The seconds for which a track is kept after the first update without a box for it.
  package var secondsKept = 1.0
  /// The number of updates in sequence with a box until a track gets its id. The tracks of the first update get theirs
  /// at once.
  package var updatesUntilConfirmed = 2
  /// Whether a box belongs to a track only if their classes are equal or one of them is not known.
  package var labelsMustAgree = true
  /// The largest number of boxes of an update that are tracked, those with the highest scores; and of lost tracks that
  /// are kept, those that were lost last.
  package var maximumCount = 1000

  /// Creates the default parameters.
  package init() {}

  /// A key of a document, known or not.
  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Creates parameters from JSON. A missing key has its default. An unknown key is an error.
  package init(from decoder: any Decoder) throws {
    let given = try decoder.container(keyedBy: AnyKey.self).allKeys
    if let unknown = given.first(where: { CodingKeys(stringValue: $0.stringValue) == nil }) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath + [unknown], debugDescription: "a tracker has no such parameter"))
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys, or fallback: Value) throws -> Value {
      try fields.decodeIfPresent(Value.self, forKey: key) ?? fallback
    }
    highScore = try value(.highScore, or: highScore)
    lowScore = try value(.lowScore, or: lowScore)
    newTrackScore = try value(.newTrackScore, or: newTrackScore)
    highMatch = try value(.highMatch, or: highMatch)
    lowMatch = try value(.lowMatch, or: lowMatch)
    unconfirmedMatch = try value(.unconfirmedMatch, or: unconfirmedMatch)
    lastBoxMatch = try value(.lastBoxMatch, or: lastBoxMatch)
    scoreWeight = try value(.scoreWeight, or: scoreWeight)
    secondsKept = try value(.secondsKept, or: secondsKept)
    updatesUntilConfirmed = try value(.updatesUntilConfirmed, or: updatesUntilConfirmed)
    labelsMustAgree = try value(.labelsMustAgree, or: labelsMustAgree)
    maximumCount = try value(.maximumCount, or: maximumCount)
    if let problem {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
  }

  /// The first value out of range, as a sentence; nil if all are in range.
  package var problem: String? {
    let shares = [
      ("highScore", highScore), ("lowScore", lowScore), ("newTrackScore", newTrackScore), ("highMatch", highMatch),
      ("lowMatch", lowMatch), ("unconfirmedMatch", unconfirmedMatch), ("lastBoxMatch", lastBoxMatch),
      ("scoreWeight", scoreWeight),
    ]
    for (name, share) in shares where !(0...1).contains(share) {
      return "\(name) is \(share); expected a number from 0 to 1"
    }
    guard lowScore <= highScore else {
      return "lowScore is \(lowScore) and highScore is \(highScore); expected lowScore to be at most highScore"
    }
    guard secondsKept >= 0, secondsKept.isFinite else {
      return "secondsKept is \(secondsKept); expected a finite number of at least 0"
    }
    guard updatesUntilConfirmed >= 1 else {
      return "updatesUntilConfirmed is \(updatesUntilConfirmed); expected at least 1"
    }
    guard (1...10_000).contains(maximumCount) else {
      return "maximumCount is \(maximumCount); expected a number from 1 to 10000"
    }
    return nil
  }
}
