/// A label map held to the one that is right: pixels by both classes. Classes are numbers, the same in all images.
public struct SegmentedImage: Hashable, Sendable {
  /// What stands for an answer that is no class of the data set.
  public static let noClass: UInt8 = 254
  /// What stands for a pixel that nobody judges, and for one that was not answered, which is wrong.
  public static let ignored: UInt8 = 255

  /// Pixels of each class, by what they were taken for; those that are not judged are left out.
  public private(set) var counts: [Pair: Int] = [:]

  /// The class of a pixel, and the one it was taken for.
  public struct Pair: Hashable, Sendable {
    /// The class.
    public var truth: UInt8
    /// What it was taken for.
    public var answer: UInt8
  }

  /// Counts pixels.
  ///
  /// - Parameters:
  ///   - truth: the class of each pixel, ``ignored`` for those that do not count.
  ///   - answer: as many.
  public init(truth: [UInt8], answer: [UInt8]) {
    precondition(truth.count == answer.count)
    var histogram = [Int](repeating: 0, count: 1 << 16)
    for index in truth.indices { histogram[Int(truth[index]) << 8 | Int(answer[index])] += 1 }
    for (key, count) in histogram.enumerated() where count > 0 && key >> 8 != Int(Self.ignored) {
      counts[Pair(truth: UInt8(key >> 8), answer: UInt8(key & 255))] = count
    }
  }

  /// Of this image alone, the mean over the classes that it has; nil where no pixel is judged.
  public var meanOverTrueClasses: Double? {
    let classes = Set(counts.keys.map(\.truth))
    let shares = classes.map { label in
      let union = counts.reduce(0) { $0 + ($1.key.truth == label || $1.key.answer == label ? $1.value : 0) }
      return Double(counts[Pair(truth: label, answer: label)] ?? 0) / Double(union)
    }
    return shares.isEmpty ? nil : shares.reduce(0, +) / Double(shares.count)
  }
}

extension SegmentationScores {
  /// Of all pixels of some images.
  ///
  /// - Parameter classCount: classes are numbers below it; answers beyond are wrong.
  public init(_ images: [SegmentedImage], classCount: Int) {
    self.init(classCount: classCount)
    for image in images {
      for (pair, count) in image.counts { add(truth: Int(pair.truth), answer: Int(pair.answer), count: count) }
    }
  }
}

/// What mean intersection over union is reckoned from, image by image, so that images can be drawn again.
public struct OverlapCounts: Sendable {
  private let classCount: Int
  /// Of each image, for each class: pixels shared, of the class, and taken for it.
  private var rows: [Int] = []

  /// - Parameter classCount: classes are numbers below it.
  public init(_ images: [SegmentedImage], classCount: Int) {
    self.classCount = classCount
    rows = [Int](repeating: 0, count: images.count * 3 * classCount)
    for (place, image) in images.enumerated() {
      for (pair, count) in image.counts {
        let (truth, answer) = (Int(pair.truth), Int(pair.answer))
        let start = place * 3 * classCount
        guard truth < classCount else { continue }
        rows[start + 3 * truth + 1] += count
        if answer < classCount { rows[start + 3 * answer + 2] += count }
        if answer == truth { rows[start + 3 * truth] += count }
      }
    }
  }

  /// Of images by their numbers, any of them any number of times; nil where they have no pixels.
  public func meanIntersectionOverUnion(of drawn: [Int]) -> Double? {
    let width = 3 * classCount
    var sums = [Int](repeating: 0, count: width)
    sums.withUnsafeMutableBufferPointer { sums in
      rows.withUnsafeBufferPointer { rows in
        for image in drawn {
          for column in 0..<width { sums[column] &+= rows[image * width + column] }
        }
      }
    }
    var (total, count) = (0.0, 0)
    for label in 0..<classCount {
      let union = sums[3 * label + 1] + sums[3 * label + 2] - sums[3 * label]
      guard union > 0 else { continue }
      total += Double(sums[3 * label]) / Double(union)
      count += 1
    }
    return count > 0 ? total / Double(count) : nil
  }
}
