/// The matched detections of each image and class. Average precision is computed from them, so that images can be
/// resampled cheaply.
public struct DetectionMatches: Sendable {
  /// The classes in ascending order, each with one entry per image.
  private let classes: [(label: Int, images: [AveragePrecision.Matched])]
  private let imageCount: Int

  /// Matches detections and objects.
  ///
  /// - Parameters:
  ///   - images: The images. Their order decides between detections of equal confidence.
  ///   - size: The range of object areas that count. Objects and detections outside are ignored.
  public init(_ images: [DetectedImage], size: AveragePrecision.Size = .any) {
    let labels = Set(images.flatMap { $0.truths.map(\.label) }).sorted()
    classes = labels.map { label in (label, images.map { AveragePrecision.match($0, label, size.areas) }) }
    imageCount = images.count
  }

  /// Returns the average precision over all images.
  public func precision() -> AveragePrecision { AveragePrecision(classes) }

  /// Returns the average precision over the images with the given indices, which may repeat.
  public func precision(of drawn: [Int]) -> AveragePrecision {
    AveragePrecision(
      classes.map { one in
        // Images without objects or detections of the class do not affect its precision.
        (one.label, drawn.compactMap { one.images[$0].isEmpty ? nil : one.images[$0] })
      })
  }

  /// Returns the numbers of detected objects, missed objects and wrong detections of each image, at an overlap of 0.5.
  ///
  /// - Parameter confidence: The smallest confidence of a detection that counts.
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
