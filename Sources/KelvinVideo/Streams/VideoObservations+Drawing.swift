public import Kelvin
public import KelvinVision

extension PixelBuffer {
  /// The number of classes that are written on a frame.
  private static let shownClasses = 3

  /// Draws observations on the upright frame: boxes with names and the numbers of tracks, joints, the colours of
  /// segments, or the most probable classes. The result has the size of the upright frame.
  ///
  /// - Parameters:
  ///   - observations: The observations of this frame.
  ///   - orientation: The orientation of the stored pixels.
  ///   - labels: The classes in the order in which they get their colours. Tracked objects have the colour of their
  ///     track.
  ///   - minimumJointConfidence: The smallest confidence of a joint that is drawn.
  /// - Throws: `VisionError.image` where the image cannot be rotated.
  public func drawing(
    _ observations: VideoObservations, orientation: ImageOrientation = .up, labels: [String] = [],
    minimumJointConfidence: Float = 0.3
  ) throws(VisionError) -> PixelBuffer {
    switch observations {
    case .classes(let classes):
      try drawing(Array(classes.prefix(Self.shownClasses)), orientation: orientation, labels: labels)
    case .objects(let objects):
      try drawing(
        objects.map(\.observation), orientation: orientation, labels: labels, tracks: objects.map(\.id))
    case .segments(let segments): try segments.drawing(on: self, orientation: orientation)
    case .poses(let poses):
      try drawing(
        poses.map(\.observation), orientation: orientation, minimumConfidence: minimumJointConfidence, hasNames: false,
        tracks: poses.map(\.id))
    }
  }
}
