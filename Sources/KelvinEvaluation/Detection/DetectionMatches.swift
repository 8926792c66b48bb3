/// Which detections are right, image by image and class by class: what average precision is reckoned from, so that images
/// can be drawn again.
public struct DetectionMatches: Sendable {
  /// By class, in order; of each image, in theirs.
  private let classes: [(label: Int, images: [AveragePrecision.Matched])]
  private let imageCount: Int

  /// - Parameters:
  ///   - images: in the order in which equally sure detections are taken.
  ///   - size: of what counts; all else is neither to be found nor wrong.
  public init(_ images: [DetectedImage], size: AveragePrecision.Size = .any) {
    let labels = Set(images.flatMap { $0.truths.map(\.label) }).sorted()
    classes = labels.map { label in (label, images.map { AveragePrecision.match($0, label, size.areas) }) }
    imageCount = images.count
  }

  /// Of all images.
  public func precision() -> AveragePrecision { AveragePrecision(classes) }

  /// Of images by their numbers, any of them any number of times.
  public func precision(of drawn: [Int]) -> AveragePrecision {
    AveragePrecision(
      classes.map { one in
        // Images without anything of the class say nothing of it.
        (one.label, drawn.compactMap { one.images[$0].isEmpty ? nil : one.images[$0] })
      })
  }

  /// Of each image, at an overlap of a half: objects found, objects missed, and detections of nothing.
  ///
  /// - Parameter confidence: detections that are less sure do not count.
  public func atHalf(from confidence: Double) -> [(right: Int, missed: Int, wrong: Int)] {
    (0..<imageCount).map { image in
      var counts = (right: 0, missed: 0, wrong: 0)
      for one in classes {
        let outcomes = one.images[image].detections.filter { $0.confidence >= confidence }.map { $0.outcomes[0] }
        let right = outcomes.count { $0 == .right }
        counts.right += right
        counts.missed += one.images[image].count - right
        counts.wrong += outcomes.count { $0 == .wrong }
      }
      return counts
    }
  }
}

extension AveragePrecision.Matched {
  fileprivate var isEmpty: Bool { detections.isEmpty && count == 0 }
}
