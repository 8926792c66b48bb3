/// Average precision by the rules of the COCO challenge (cocodataset.org, "Detection evaluation"): interpolated
/// precision at 101 recalls, averaged over classes and overlap thresholds.
public struct AveragePrecision: Hashable, Sendable {
  /// A range of object areas, in the boxes' units. COCO's units are pixels.
  public enum Size: CaseIterable, Sendable {
    /// All areas.
    case any
    /// Areas up to 32².
    case small
    /// Areas from 32² to 96².
    case medium
    /// Areas from 96² on.
    case large

    var areas: ClosedRange<Double> {
      switch self {
      case .any: 0...1e10
      case .small: 0...1024
      case .medium: 1024...9216
      case .large: 9216...1e10
      }
    }
  }

  /// The mean over overlap thresholds from 0.50 to 0.95; nil without objects.
  public let mean: Double?
  /// The average precision at an overlap of 0.50.
  public let atHalf: Double?
  /// The average precision at an overlap of 0.75.
  public let atThreeQuarters: Double?
  /// The largest recall, averaged over the same overlap thresholds.
  public let recall: Double?
  /// The average precision of each class that has objects, over the same overlap thresholds.
  public let byClass: [Int: Double]

  /// The largest number of detections per class and image that count, the most confident first.
  public static let mostDetections = 100
  /// The thresholds equal `numpy.linspace(0.5, 0.95, 10)` and `numpy.linspace(0, 1, 101)` bit for bit.
  private static let overlaps = spaced(from: 0.5, to: 0.95, count: 10)
  private static let recalls = spaced(from: 0, to: 1, count: 101)

  private static func spaced(from first: Double, to last: Double, count: Int) -> [Double] {
    let step = (last - first) / Double(count - 1)
    return (0..<count - 1).map { first + Double($0) * step } + [last]
  }

  /// Computes the average precision.
  ///
  /// - Parameters:
  ///   - images: The images. Their order decides between detections of equal confidence.
  ///   - size: The range of object areas that count. Objects and detections outside are ignored.
  public init(_ images: [DetectedImage], size: Size = .any) {
    self = DetectionMatches(images, size: size).precision()
  }

  /// - Parameter classes: The matched detections of each class in each image.
  init(_ classes: [(label: Int, images: [Matched])]) {
    var precisions: [[Double]] = []
    var recalls: [Double] = []
    var byClass: [Int: Double] = [:]
    for (label, matched) in classes {
      let count = matched.reduce(0) { $0 + $1.count }
      guard count > 0 else { continue }
      let found = matched.flatMap(\.detections)
      // Detections of equal confidence stay in the order of the images.
      let order = found.indices.sorted { (found[$1].confidence, $0) < (found[$0].confidence, $1) }
      let curves = Self.overlaps.indices.map { overlap in
        Self.curve(order.map { found[$0].outcomes[overlap] }, of: count)
      }
      precisions.append(curves.map(\.precision))
      recalls.append(curves.map(\.recall).mean)
      byClass[label] = curves.map(\.precision).mean
    }
    func overClasses(_ select: ([Double]) -> Double) -> Double? {
      precisions.isEmpty ? nil : precisions.map(select).mean
    }
    mean = overClasses(\.mean)
    atHalf = overClasses { $0[0] }
    atThreeQuarters = overClasses { $0[5] }
    recall = recalls.isEmpty ? nil : recalls.mean
    self.byClass = byClass
  }

  enum Outcome { case right, wrong, ignored }

  /// The matched detections of one class in one image.
  struct Matched: Sendable {
    /// The confidence of each detection, and its outcome at each overlap threshold.
    var detections: [(confidence: Double, outcomes: [Outcome])]
    /// The number of objects to detect.
    var count: Int
  }

  /// Assigns each detection of a class, the most confident first, to the unassigned object with the largest overlap.
  static func match(_ image: DetectedImage, _ label: Int, _ areas: ClosedRange<Double>) -> Matched {
    let all = image.detections.filter { $0.label == label }
    let detections = all.indices.sorted { (all[$1].confidence, $0) < (all[$0].confidence, $1) }
      .prefix(mostDetections).map { all[$0] }
    let known = image.truths.filter { $0.label == label }
      .map { (truth: $0, isIgnored: $0.isCrowd || !areas.contains($0.area)) }
    let truths = known.filter { !$0.isIgnored } + known.filter(\.isIgnored)
    let shares = detections.map { detection in
      truths.map { detection.box.overlap(with: $0.truth.box, isCrowd: $0.truth.isCrowd) }
    }
    var outcomes = detections.map { _ in [Outcome]() }
    for overlap in overlaps {
      var isTaken = truths.map { _ in false }
      for index in detections.indices {
        var (best, chosen): (Double, Int?) = (min(overlap, 1 - 1e-10), nil)
        for position in truths.indices where !isTaken[position] || truths[position].truth.isCrowd {
          // An object that counts is preferred over an ignored one.
          if let chosen, !truths[chosen].isIgnored, truths[position].isIgnored { break }
          guard shares[index][position] >= best else { continue }
          (best, chosen) = (shares[index][position], position)
        }
        if let chosen {
          isTaken[chosen] = true
          outcomes[index].append(truths[chosen].isIgnored ? .ignored : .right)
        } else {
          outcomes[index].append(areas.contains(detections[index].box.area) ? .wrong : .ignored)
        }
      }
    }
    return Matched(
      detections: zip(detections, outcomes).map { ($0.confidence, $1) }, count: truths.count { !$0.isIgnored })
  }

  /// - Parameter outcomes: The outcomes of the detections, the most confident first.
  /// - Returns: The mean precision over the recalls, and the largest recall.
  private static func curve(_ outcomes: [Outcome], of count: Int) -> (precision: Double, recall: Double) {
    var (right, wrong) = (0, 0)
    var points: [(recall: Double, precision: Double)] = []
    for outcome in outcomes where outcome != .ignored {
      if outcome == .right { right += 1 } else { wrong += 1 }
      points.append((Double(right) / Double(count), Double(right) / (Double(right + wrong) + .ulpOfOne)))
    }
    for index in points.indices.dropLast().reversed() {
      points[index].precision = max(points[index].precision, points[index + 1].precision)
    }
    var next = 0
    let precisions = recalls.map { recall -> Double in
      while next < points.count, points[next].recall < recall { next += 1 }
      return next < points.count ? points[next].precision : 0
    }
    return (precisions.mean, points.last?.recall ?? 0)
  }
}

extension [Double] {
  /// The mean of at least one number.
  fileprivate var mean: Double { reduce(0, +) / Double(count) }
}
