/// Which detections are right, picture by picture and class by class: what average precision is reckoned from, so that pictures
/// can be drawn again.
public struct DetectionMatches: Sendable {
  /// By class, in order; of each picture, in theirs.
  private let classes: [(label: Int, pictures: [AveragePrecision.Matched])]
  private let pictureCount: Int

  /// - Parameters:
  ///   - pictures: in the order in which equally sure detections are taken.
  ///   - size: of what counts; all else is neither to be found nor wrong.
  public init(_ pictures: [DetectedPicture], size: AveragePrecision.Size = .any) {
    let labels = Set(pictures.flatMap { $0.truths.map(\.label) }).sorted()
    classes = labels.map { label in (label, pictures.map { AveragePrecision.match($0, label, size.areas) }) }
    pictureCount = pictures.count
  }

  /// Of all pictures.
  public func precision() -> AveragePrecision { AveragePrecision(classes) }

  /// Of pictures by their numbers, any of them any number of times.
  public func precision(of drawn: [Int]) -> AveragePrecision {
    AveragePrecision(
      classes.map { one in
        // Pictures without anything of the class say nothing of it.
        (one.label, drawn.compactMap { one.pictures[$0].isEmpty ? nil : one.pictures[$0] })
      })
  }

  /// Of each picture, at an overlap of a half: objects found, objects missed, and detections of nothing.
  ///
  /// - Parameter confidence: detections that are less sure do not count.
  public func atHalf(from confidence: Double) -> [(right: Int, missed: Int, wrong: Int)] {
    (0..<pictureCount).map { picture in
      var counts = (right: 0, missed: 0, wrong: 0)
      for one in classes {
        let outcomes = one.pictures[picture].detections.filter { $0.confidence >= confidence }.map { $0.outcomes[0] }
        let right = outcomes.count { $0 == .right }
        counts.right += right
        counts.missed += one.pictures[picture].count - right
        counts.wrong += outcomes.count { $0 == .wrong }
      }
      return counts
    }
  }
}

extension AveragePrecision.Matched {
  fileprivate var isEmpty: Bool { detections.isEmpty && count == 0 }
}
