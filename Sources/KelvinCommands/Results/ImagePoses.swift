import Kelvin
import KelvinBasics
import KelvinVision

/// The poses in an image, as they are printed.
struct ImagePoses: ImageResult {
  struct Point: Encodable {
    var x: Double
    var y: Double
  }

  struct Joint: Encodable {
    var confidence: Double
    /// The location in shares of the image's width and height, from its lower left corner, as in Vision.
    var location: Point
    /// The location in pixels of the upright image, from its top left corner.
    var pixel: Point
  }

  struct Pose: Encodable {
    var confidence: Double
    /// The joints by name.
    var joints: [String: Joint]

    init(_ observation: HumanBodyPoseObservation, in size: ImageSize) {
      confidence = Double(observation.confidence)
      joints = Dictionary(
        uniqueKeysWithValues: observation.keyPoints.map { name, joint in
          let pixel = joint.location.toImageCoordinates(size, origin: .upperLeft)
          return (
            name.rawValue,
            Joint(
              confidence: Double(joint.confidence), location: Point(x: joint.location.x, y: joint.location.y),
              pixel: Point(x: pixel.x, y: pixel.y))
          )
        })
    }
  }

  var image: String
  var width: Int?
  var height: Int?
  var observations: [Pose] = []
  var drawing: String?
  var error: String?
  /// The smallest confidence of joints that count in the table.
  private let leastJoint: Double

  private enum CodingKeys: String, CodingKey {
    case image, width, height, observations, drawing, error
  }

  init(image: String, error: String?) {
    (self.image, self.error) = (image, error)
    leastJoint = 0
  }

  init(image: String, _ size: ImageSize, _ observations: [HumanBodyPoseObservation], leastJoint: Float) {
    self.image = image
    (width, height) = (size.width, size.height)
    self.observations = observations.map { Pose($0, in: size) }
    self.leastJoint = Double(leastJoint)
  }

  static let columns: [TextTable.Column] = [
    .init("POSE"), .init("CONFIDENCE", .right), .init("JOINTS", .right), .init("LEFT", .right), .init("TOP", .right),
    .init("RIGHT", .right), .init("BOTTOM", .right),
  ]
  static let fields = ["pose", "confidence", "joint", "x", "y", "jointConfidence"]

  var files: [String] { drawing.map { [$0] } ?? [] }
  var rows: [[String]] {
    observations.enumerated().map { place, pose in
      let sure = pose.joints.values.filter { $0.confidence >= leastJoint }
      let (x, y) = (sure.map(\.pixel.x), sure.map(\.pixel.y))
      let sides = [x.min(), y.min(), x.max(), y.max()].map { side in side.map(PixelText.whole) ?? "—" }
      return ["\(place + 1)", HumanReadable.percent(pose.confidence), "\(sure.count)"] + sides
    }
  }
  var labels: [(name: String, figure: String)] { rows.map { ("pose \($0[0])", $0[1]) } }
  var records: [[String]] {
    observations.enumerated().flatMap { place, pose in
      HumanBodyPoseObservation.JointName.allCases.compactMap { name in
        pose.joints[name.rawValue].map { joint in
          [
            "\(place + 1)", "\(pose.confidence)", name.rawValue, "\(joint.pixel.x)", "\(joint.pixel.y)",
            "\(joint.confidence)",
          ]
        }
      }
    }
  }
}
