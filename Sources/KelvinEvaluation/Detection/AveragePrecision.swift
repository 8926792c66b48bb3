/// Average precision as the COCO challenge reckons it (cocodataset.org, "Detection evaluation"): precision at 101 recalls, made
/// to fall, the mean over thresholds of overlap and classes.
public struct AveragePrecision: Hashable, Sendable {
  /// By the area of what is to be found, in the boxes' units; COCO's are in pixels.
  public enum Size: CaseIterable, Sendable {
    /// All areas.
    case any
    /// Up to 32².
    case small
    /// From 32² to 96².
    case medium
    /// From 96² on.
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

  /// Over overlaps from 0.50 to 0.95; nil where there is nothing to find.
  public let mean: Double?
  /// At an overlap of 0.50.
  public let atHalf: Double?
  /// At an overlap of 0.75.
  public let atThreeQuarters: Double?
  /// The greatest recall, over the same overlaps.
  public let recall: Double?
  /// Of each class that there is something to find of, over the same overlaps.
  public let byClass: [Int: Double]

  /// Detections of a class on an image that count, the surest.
  public static let mostDetections = 100
  /// As `numpy.linspace(0.5, 0.95, 10)` and `numpy.linspace(0, 1, 101)` have them, to the last bit.
  private static let overlaps = spaced(from: 0.5, to: 0.95, count: 10)
  private static let recalls = spaced(from: 0, to: 1, count: 101)

  private static func spaced(from first: Double, to last: Double, count: Int) -> [Double] {
    let step = (last - first) / Double(count - 1)
    return (0..<count - 1).map { first + Double($0) * step } + [last]
  }

  /// - Parameters:
  ///   - images: in the order in which equally sure detections are taken.
  ///   - size: of what counts; all else is neither to be found nor wrong.
  public init(_ images: [DetectedImage], size: Size = .any) {
    self = DetectionMatches(images, size: size).precision()
  }

  /// - Parameter classes: of each class, what its detections are on each image.
  init(_ classes: [(label: Int, images: [Matched])]) {
    var precisions: [[Double]] = []
    var recalls: [Double] = []
    var byClass: [Int: Double] = [:]
    for (label, matched) in classes {
      let count = matched.reduce(0) { $0 + $1.count }
      guard count > 0 else { continue }
      let found = matched.flatMap(\.detections)
      // Equally sure ones stay in the order of the images.
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

  /// What the detections of a class on an image are.
  struct Matched: Sendable {
    /// Of each detection, at each overlap.
    var detections: [(confidence: Double, outcomes: [Outcome])]
    /// What is to be found.
    var count: Int
  }

  /// Gives each detection of a class, the surest first, the free truth that it overlaps most.
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
        for place in truths.indices where !isTaken[place] || truths[place].truth.isCrowd {
          // One that counts is not given up for one that does not.
          if let chosen, !truths[chosen].isIgnored, truths[place].isIgnored { break }
          guard shares[index][place] >= best else { continue }
          (best, chosen) = (shares[index][place], place)
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

  /// - Parameter outcomes: of detections, the surest first.
  /// - Returns: the mean of the precision at each recall, and the greatest recall.
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
  /// Of at least one.
  fileprivate var mean: Double { reduce(0, +) / Double(count) }
}
