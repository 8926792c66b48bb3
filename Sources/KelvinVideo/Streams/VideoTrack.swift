public import Kelvin
import KelvinBasics
import KelvinImages
import KelvinVision

/// An object or a person that was followed through a video.
public struct VideoTrack: Sendable {
  /// The number of the track in its source, from 1.
  public let id: Int
  /// The label of most frames.
  public var label: String { labels.max { ($0.value, $1.key.string) < ($1.value, $0.key.string) }?.key.string ?? "" }
  /// The times of the first and the last frame with the object.
  public let first: Duration
  /// The time of the last frame with the object.
  public private(set) var last: Duration
  /// The number of answered frames with the object.
  public private(set) var frameCount = 0
  /// The part of the frame with the highest confidence that shows the object, at most 96 pixels wide and high; nil
  /// unless images are kept.
  public private(set) var image: PixelBuffer?

  private var labels: [ExactString: Int] = [:]
  private var imageConfidence = 0.0
  /// The longest side of an image in pixels, and the factor of confidence for which it is taken anew.
  private static let (imageSide, betterBy) = (96, 1.1)
  /// The largest number of labels that are counted.
  private static let mostLabels = 16

  init(id: Int, label: String, first: Duration) {
    (self.id, self.first, last) = (id, first, first)
    labels[ExactString(label)] = 0
  }

  mutating func add(
    _ label: String, confidence: Double, at time: Duration,
    image seen: (image: PixelBuffer, orientation: ImageOrientation, box: NormalizedRect)?
  ) {
    frameCount += 1
    last = time
    let key = ExactString(label)
    if labels[key] != nil || labels.count < Self.mostLabels { labels[key, default: 0] += 1 }
    guard let seen, image == nil || confidence > Self.betterBy * imageConfidence else { return }
    guard let cut = seen.image.cut(seen.box, seen.orientation, side: Self.imageSide) else { return }
    image = cut
    imageConfidence = confidence
  }
}

extension PixelBuffer {
  /// Returns the part of the upright image in a box, scaled down to fit into a square; nil for a box outside the image.
  fileprivate func cut(_ box: NormalizedRect, _ orientation: ImageOrientation, side: Int) -> PixelBuffer? {
    let size = ImageSize(self, orientation)
    let rect = box.toImageCoordinates(size, origin: .upperLeft)
    guard [rect.x, rect.y, rect.width, rect.height].allSatisfy({ abs($0) < 1e9 }) else { return nil }
    let (left, top) = (max(Int(rect.x), 0), max(Int(rect.y), 0))
    let (right, bottom) = (min(Int(rect.x + rect.width), size.width), min(Int(rect.y + rect.height), size.height))
    guard right - left > 1, bottom - top > 1 else { return nil }
    let scale = min(1, Double(side) / Double(max(right - left, bottom - top)))
    let (width, height) = (max(1, Int(Double(right - left) * scale)), max(1, Int(Double(bottom - top) * scale)))
    let sampler = ImageSampler(
      width: width, height: height, order: .rgb, arrangement: .interleaved, cropAndScale: .scaleToFill,
      regionOfInterest: PixelRect(x: left, y: top, width: right - left, height: bottom - top))
    var bytes = [UInt8](repeating: 0, count: width * height * 3)
    let isSampled: Void? = try? bytes.withUnsafeMutableBufferPointer { bytes in
      try withPixels { (view) throws(ImageError) in try sampler.sample(view, orientation: orientation, into: bytes) }
    }
    guard isSampled != nil else { return nil }
    return try? PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
  }
}

extension HumanBodyPoseObservation {
  /// The smallest box around the joints; nil without joints.
  var surroundingBox: NormalizedRect? {
    let points = keyPoints.values.map(\.location)
    guard let left = points.map(\.x).min(), let right = points.map(\.x).max(), let low = points.map(\.y).min(),
      let high = points.map(\.y).max()
    else { return nil }
    return NormalizedRect(x: left, y: low, width: right - left, height: high - low)
  }
}
