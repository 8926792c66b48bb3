import KelvinBasics
import KelvinTracking
public import KelvinVision

/// Follows people from frame to frame, and smooths the places of their joints with One Euro filters (Casiez et al.,
/// CHI 2012).
public struct PoseTracker: Sendable {
  private typealias Smoother = PoseSmoother<HumanBodyPoseObservation.JointName>

  private var tracker: BoxTracker
  private var smoothers: [Int: Smoother] = [:]
  private let parameters: StreamParameters
  /// The smallest side of a person's box, in pixels. A person whose joints are on one line has a box nevertheless.
  private static let leastSide = 1.0

  /// Creates a tracker of one video.
  ///
  /// - Parameter parameters: The parameters of the association and of the filters.
  public init(_ parameters: StreamParameters = StreamParameters()) {
    self.parameters = parameters
    tracker = BoxTracker(parameters.tracking)
  }

  /// Associates the poses of a frame with people, and smooths their joints.
  ///
  /// - Parameters:
  ///   - poses: The poses of the frame, in any order.
  ///   - size: The size of the upright frame in pixels.
  ///   - time: The time of the frame. It may advance by any steps; a step back by more than a second ends all tracks.
  /// - Returns: The poses in the same order. A pose that is not followed yet is not smoothed.
  public mutating func update(
    _ poses: [HumanBodyPoseObservation], in size: ImageSize, at time: Duration
  ) -> [TrackedPose] {
    let joints = poses.map { pose in
      pose.keyPoints.mapValues { joint in
        let point = joint.location.toImageCoordinates(size, origin: .upperLeft)
        return PosePoint(x: point.x, y: point.y)
      }
    }
    let boxes = zip(poses, joints).map { pose, joints in
      let (x, y) = (joints.values.map(\.x), joints.values.map(\.y))
      let (left, top) = (x.min() ?? .nan, y.min() ?? .nan)
      return TrackedBox(
        x: left, y: top, width: max((x.max() ?? .nan) - left, Self.leastSide),
        height: max((y.max() ?? .nan) - top, Self.leastSide), score: Double(pose.confidence))
    }
    let seconds = time.inSeconds
    let tracks = tracker.update(boxes, at: seconds)
    let kept = Set(tracker.tracks.compactMap(\.id))
    smoothers = smoothers.filter { kept.contains($0.key) }
    return poses.indices.map { index in
      var tracked = TrackedPose(poses[index])
      guard let id = tracks[index].id else { return tracked }
      tracked.id = id
      var smoother = smoothers[id] ?? Smoother(parameters.poses)
      let smoothed = smoother.update(joints[index], size: max(boxes[index].height, boxes[index].width), at: seconds)
      smoothers[id] = smoother
      tracked.observation = poses[index].moved(to: smoothed, in: size)
      return tracked
    }
  }
}

extension HumanBodyPoseObservation {
  /// Returns the pose with its joints at other places, in pixels of the upright image from the upper left.
  fileprivate func moved(to places: [JointName: PosePoint], in size: ImageSize) -> HumanBodyPoseObservation {
    let joints = keyPoints.map { name, joint -> (JointName, Joint) in
      guard let place = places[name] else { return (name, joint) }
      let point = NormalizedPoint(imagePoint: ImagePoint(x: place.x, y: place.y), in: size, origin: .upperLeft)
      return (name, Joint(jointName: joint.jointName, location: point, confidence: joint.confidence))
    }
    return HumanBodyPoseObservation(joints: Dictionary(uniqueKeysWithValues: joints), confidence: confidence)
  }
}
