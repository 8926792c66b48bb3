/// The pixel counts of a label map by true and answered class. Classes are integers with the same meaning in all
/// images.
public struct SegmentedImage: Hashable, Sendable {
  /// The class of an answer that is not a class of the data set.
  public static let noClass: UInt8 = 254
  /// The class of a true pixel that is ignored, and of an unanswered pixel, which is wrong.
  public static let ignored: UInt8 = 255

  /// The number of pixels for each pair of classes; ignored pixels are left out.
  public private(set) var counts: [Pair: Int] = [:]

  /// The true and the answered class of a pixel.
  public struct Pair: Hashable, Sendable {
    /// The true class.
    public var truth: UInt8
    /// The answered class.
    public var answer: UInt8
  }

  /// Counts the pixels of an image.
  ///
  /// - Parameters:
  ///   - truth: The class of each pixel; ``ignored`` for pixels that do not count.
  ///   - answer: The answered class of each pixel.
  public init(truth: [UInt8], answer: [UInt8]) {
    precondition(truth.count == answer.count)
    var histogram = [Int](repeating: 0, count: 1 << 16)
    for index in truth.indices { histogram[Int(truth[index]) << 8 | Int(answer[index])] += 1 }
    for (key, count) in histogram.enumerated() where count > 0 && key >> 8 != Int(Self.ignored) {
      counts[Pair(truth: UInt8(key >> 8), answer: UInt8(key & 255))] = count
    }
  }

  /// The mean intersection over union of the classes that this image has; nil where all pixels are ignored.
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
  /// Computes the scores over all pixels of some images.
  ///
  /// - Parameter classCount: The number of classes. Answers that are not below it are wrong.
  public init(_ images: [SegmentedImage], classCount: Int) {
    self.init(classCount: classCount)
    for image in images {
      for (pair, count) in image.counts { add(truth: Int(pair.truth), answer: Int(pair.answer), count: count) }
    }
  }
}

/// The overlap counts of each image, from which mean intersection over union is computed, so that images can be
/// resampled cheaply.
public struct OverlapCounts: Sendable {
  private let classCount: Int
  /// For each image and class: the numbers of shared, true and answered pixels.
  private var rows: [Int] = []

  /// Counts the overlaps of each image.
  ///
  /// - Parameter classCount: The number of classes; valid classes are below it.
  public init(_ images: [SegmentedImage], classCount: Int) {
    self.classCount = classCount
    rows = [Int](repeating: 0, count: images.count * 3 * classCount)
    for (index, image) in images.enumerated() {
      for (pair, count) in image.counts {
        let (truth, answer) = (Int(pair.truth), Int(pair.answer))
        let start = index * 3 * classCount
        guard truth < classCount else { continue }
        rows[start + 3 * truth + 1] += count
        if answer < classCount { rows[start + 3 * answer + 2] += count }
        if answer == truth { rows[start + 3 * truth] += count }
      }
    }
  }

  /// Returns the mean intersection over union of the images with the given indices, which may repeat; nil where they
  /// have no pixels.
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
