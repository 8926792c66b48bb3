public import FoundationEssentials

/// A place on a body.
public struct Joint: Hashable, Sendable {
  /// The name of its ``HumanBodyPoseObservation/JointName``.
  public let jointName: String
  /// Where it is, as a share of the whole upright image, whatever part of it the model saw.
  public let location: NormalizedPoint
  /// How sure the model is.
  public let confidence: Float

  /// A joint at a place.
  public init(jointName: String, location: NormalizedPoint, confidence: Float) {
    self.jointName = jointName
    self.location = location
    self.confidence = confidence
  }
}

/// A body on an image, by its joints.
public struct HumanBodyPoseObservation: VisionObservation, Hashable {
  /// The joints of a body. Left and right are the person's own.
  public enum JointName: String, Hashable, Sendable, CaseIterable {
    /// The tip of the nose.
    case nose
    /// The left eye.
    case leftEye
    /// The right eye.
    case rightEye
    /// The left ear.
    case leftEar
    /// The right ear.
    case rightEar
    /// The left shoulder.
    case leftShoulder
    /// The right shoulder.
    case rightShoulder
    /// The left elbow.
    case leftElbow
    /// The right elbow.
    case rightElbow
    /// The left wrist.
    case leftWrist
    /// The right wrist.
    case rightWrist
    /// The left hip.
    case leftHip
    /// The right hip.
    case rightHip
    /// The left knee.
    case leftKnee
    /// The right knee.
    case rightKnee
    /// The left ankle.
    case leftAnkle
    /// The right ankle.
    case rightAnkle
    /// Halfway between the shoulders, where the model has no point of its own for it.
    case neck
    /// Halfway between the hips, where the model has no point of its own for it.
    case root
  }

  /// Parts of a body.
  public enum JointsGroupName: String, Hashable, Sendable, CaseIterable {
    /// Nose, eyes and ears.
    case face
    /// Shoulders and hips, and what is between them.
    case torso
    /// From the left shoulder to the wrist.
    case leftArm
    /// From the right shoulder to the wrist.
    case rightArm
    /// From the left hip to the ankle.
    case leftLeg
    /// From the right hip to the ankle.
    case rightLeg

    /// The joints that belong to it; neighbours share some.
    public var jointNames: [JointName] {
      switch self {
      case .face: [.nose, .leftEye, .rightEye, .leftEar, .rightEar]
      case .torso: [.neck, .leftShoulder, .rightShoulder, .root, .leftHip, .rightHip]
      case .leftArm: [.leftShoulder, .leftElbow, .leftWrist]
      case .rightArm: [.rightShoulder, .rightElbow, .rightWrist]
      case .leftLeg: [.leftHip, .leftKnee, .leftAnkle]
      case .rightLeg: [.rightHip, .rightKnee, .rightAnkle]
      }
    }
  }

  /// How sure the model is of the pose.
  public let confidence: Float
  public var uuid: UUID { identity.uuid }
  private let identity = ObservationIdentity()
  /// The points that the model gave, by their names.
  public let keyPoints: [JointName: Joint]

  /// A pose.
  ///
  /// - Parameters:
  ///   - joints: the points that the model gave.
  ///   - confidence: how sure it is of all of them together.
  public init(joints: [JointName: Joint], confidence: Float) {
    keyPoints = joints
    self.confidence = confidence
  }

  /// The joints that the pose has, in the order of ``JointName``.
  public var availableJointNames: [JointName] { JointName.allCases.filter { joint(for: $0) != nil } }

  /// The parts of the body of which the pose has a joint.
  public var availableJointsGroupNames: [JointsGroupName] {
    JointsGroupName.allCases.filter { !allJoints(in: $0).isEmpty }
  }

  /// A joint; nil where the pose has none of that name.
  public func joint(for name: JointName) -> Joint? {
    if let own = keyPoints[name] { return own }
    switch name {
    case .neck: return middle(.leftShoulder, .rightShoulder, name)
    case .root: return middle(.leftHip, .rightHip, name)
    default: return nil
    }
  }

  /// The joints of a part of the body; nil for the whole.
  public func allJoints(in group: JointsGroupName? = nil) -> [JointName: Joint] {
    let names = group?.jointNames ?? JointName.allCases
    return names.reduce(into: [:]) { $0[$1] = joint(for: $1) }
  }

  /// ``joint(for:)`` as Vision's earlier interface names it.
  public func recognizedPoint(_ name: JointName) -> Joint? { joint(for: name) }

  /// ``allJoints(in:)`` as Vision's earlier interface names it.
  public func recognizedPoints(_ group: JointsGroupName? = nil) -> [JointName: Joint] { allJoints(in: group) }

  /// As sure as the less sure of two joints.
  private func middle(_ a: JointName, _ b: JointName, _ name: JointName) -> Joint? {
    guard let a = keyPoints[a], let b = keyPoints[b] else { return nil }
    let location = NormalizedPoint(x: (a.location.x + b.location.x) / 2, y: (a.location.y + b.location.y) / 2)
    return Joint(jointName: name.rawValue, location: location, confidence: min(a.confidence, b.confidence))
  }
}
