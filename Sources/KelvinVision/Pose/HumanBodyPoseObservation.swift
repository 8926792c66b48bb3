public import FoundationEssentials

/// A joint of a body.
public struct Joint: Hashable, Sendable, Codable {
  /// The name of the joint's ``HumanBodyPoseObservation/JointName``.
  public let jointName: String
  /// The location in shares of the whole upright image, regardless of the part that the model saw.
  public let location: NormalizedPoint
  /// The model's confidence.
  public let confidence: Float

  /// Creates a joint from its name, location and confidence.
  public init(jointName: String, location: NormalizedPoint, confidence: Float) {
    self.jointName = jointName
    self.location = location
    self.confidence = confidence
  }
}

/// The pose of a body in an image, given by its joints.
public struct HumanBodyPoseObservation: VisionObservation, Hashable, Codable {
  /// The joints of a body. Left and right are from the person's point of view.
  public enum JointName: String, Hashable, Sendable, CaseIterable, Codable, CodingKeyRepresentable {
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
    /// The middle between the shoulders, unless the model outputs a point for the neck.
    case neck
    /// The middle between the hips, unless the model outputs a point for it.
    case root
  }

  /// The parts of a body.
  public enum JointsGroupName: String, Hashable, Sendable, CaseIterable, Codable {
    /// Nose, eyes and ears.
    case face
    /// Shoulders and hips, and the joints between them.
    case torso
    /// From the left shoulder to the wrist.
    case leftArm
    /// From the right shoulder to the wrist.
    case rightArm
    /// From the left hip to the ankle.
    case leftLeg
    /// From the right hip to the ankle.
    case rightLeg

    /// The joints of the part. Adjacent parts share joints.
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

  /// The model's confidence in the pose.
  public let confidence: Float
  public var uuid: UUID { identity.uuid }
  private let identity: ObservationIdentity
  /// The joints that the model found, by name.
  public let keyPoints: [JointName: Joint]

  private enum CodingKeys: String, CodingKey { case confidence, keyPoints, identity = "uuid" }

  /// Creates a pose.
  ///
  /// - Parameters:
  ///   - joints: The joints that the model found.
  ///   - confidence: The confidence in the whole pose.
  public init(joints: [JointName: Joint], confidence: Float) {
    identity = ObservationIdentity()
    keyPoints = joints
    self.confidence = confidence
  }

  /// The joints of the pose, in the order of ``JointName``.
  public var availableJointNames: [JointName] { JointName.allCases.filter { joint(for: $0) != nil } }

  /// The parts of the body that have at least one joint.
  public var availableJointsGroupNames: [JointsGroupName] {
    JointsGroupName.allCases.filter { !allJoints(in: $0).isEmpty }
  }

  /// Returns a joint; nil where the pose does not have it.
  public func joint(for name: JointName) -> Joint? {
    if let own = keyPoints[name] { return own }
    switch name {
    case .neck: return middle(.leftShoulder, .rightShoulder, name)
    case .root: return middle(.leftHip, .rightHip, name)
    default: return nil
    }
  }

  /// Returns the joints of a part of the body; nil for the whole body.
  public func allJoints(in group: JointsGroupName? = nil) -> [JointName: Joint] {
    let names = group?.jointNames ?? JointName.allCases
    return names.reduce(into: [:]) { $0[$1] = joint(for: $1) }
  }

  /// Returns ``joint(for:)``, under the name of Vision's first API generation.
  public func recognizedPoint(_ name: JointName) -> Joint? { joint(for: name) }

  /// Returns ``allJoints(in:)``, under the name of Vision's first API generation.
  public func recognizedPoints(_ group: JointsGroupName? = nil) -> [JointName: Joint] { allJoints(in: group) }

  /// Returns the middle of two joints, with the smaller of their confidences.
  private func middle(_ a: JointName, _ b: JointName, _ name: JointName) -> Joint? {
    guard let a = keyPoints[a], let b = keyPoints[b] else { return nil }
    let location = NormalizedPoint(x: (a.location.x + b.location.x) / 2, y: (a.location.y + b.location.y) / 2)
    return Joint(jointName: name.rawValue, location: location, confidence: min(a.confidence, b.confidence))
  }
}
