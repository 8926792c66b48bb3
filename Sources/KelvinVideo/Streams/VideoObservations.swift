public import KelvinVision

/// The observations of a ``VideoRequest`` in one frame. Coordinates are those of the upright image.
public enum VideoObservations: Sendable {
  /// Every class, the most probable first; with smoothing, the class that is shown first.
  case classes([ClassificationObservation])
  /// The objects, the most confident first.
  case objects([TrackedObject])
  /// The class of each pixel.
  case segments(SegmentationObservation)
  /// The poses, in descending order of confidence.
  case poses([TrackedPose])
}

/// An object in a frame, and its track.
public struct TrackedObject: Sendable, Hashable {
  /// The object as it was detected.
  public var observation: RecognizedObjectObservation
  /// The number of the object's track, from 1, the same in all frames that show the object; nil without tracking, and
  /// for an object that is not followed yet.
  public var id: Int?
  /// The time since the first frame of the track.
  public var age: Duration
  /// Whether the track was lost in the frame before.
  public var isFoundAgain: Bool

  /// Creates an object that is not tracked.
  public init(_ observation: RecognizedObjectObservation) {
    self.observation = observation
    (id, age, isFoundAgain) = (nil, .zero, false)
  }
}

/// A pose in a frame, and its track.
public struct TrackedPose: Sendable, Hashable {
  /// The pose; with smoothing, with smoothed places of the joints.
  public var observation: HumanBodyPoseObservation
  /// The number of the person's track, from 1; nil without tracking, and for a person who is not followed yet.
  public var id: Int?

  /// Creates a pose that is not tracked.
  public init(_ observation: HumanBodyPoseObservation) { (self.observation, id) = (observation, nil) }
}
