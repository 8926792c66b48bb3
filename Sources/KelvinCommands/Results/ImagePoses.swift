import Kelvin
import KelvinBasics
import KelvinVision

/// The poses in an image, as they are printed.
struct ImagePoses: ImageResult {
  var image: String
  var size: ImageSize?
  var observations: [HumanBodyPoseObservation] = []
  var drawing: String?
  var error: String?
  /// The smallest confidence of joints that count in the table.
  private var leastJoint = 0.0

  init(image: String, error: String?) { (self.image, self.error) = (image, error) }

  init(image: String, _ size: ImageSize, _ observations: [HumanBodyPoseObservation], leastJoint: Float) {
    (self.image, self.size, self.observations) = (image, size, observations)
    self.leastJoint = Double(leastJoint)
  }

  static let columns: [TextTable.Column] = [
    .init("POSE"), .init("CONFIDENCE", .right), .init("JOINTS", .right), .init("LEFT", .right), .init("TOP", .right),
    .init("RIGHT", .right), .init("BOTTOM", .right),
  ]
  static let fields = ["pose", "confidence", "joint", "x", "y", "jointConfidence"]

  /// `location` is in shares of the image's width and height, from its lower left corner, as in Vision; `pixel` is in
  /// pixels of the upright image, from its top left corner.
  var document: JSONObject {
    [
      "image": image, "width": size?.width, "height": size?.height, "drawing": drawing, "error": error,
      "observations": size.map { size in observations.map { $0.document(in: size) } } ?? [],
    ]
  }

  private func joints(of pose: HumanBodyPoseObservation) -> [HumanBodyPoseObservation.PlacedJoint] {
    size.map(pose.placedJoints) ?? []
  }

  var files: [String] { drawing.map { [$0] } ?? [] }
  var rows: [[String]] {
    observations.enumerated().map { place, pose in
      let sure = joints(of: pose).filter { $0.confidence >= leastJoint }
      let (x, y) = (sure.map(\.x), sure.map(\.y))
      let sides = [x.min(), y.min(), x.max(), y.max()].map { side in side.map(PixelText.whole) ?? "—" }
      return ["\(place + 1)", HumanReadable.percent(Double(pose.confidence)), "\(sure.count)"] + sides
    }
  }
  var labels: [(name: String, figure: String)] { rows.map { ("pose \($0[0])", $0[1]) } }
  var records: [[String]] {
    observations.enumerated().flatMap { place, pose in
      joints(of: pose).map { joint in
        [
          "\(place + 1)", "\(Double(pose.confidence))", joint.name.rawValue, "\(joint.x)", "\(joint.y)",
          "\(joint.confidence)",
        ]
      }
    }
  }
}

extension HumanBodyPoseObservation {
  fileprivate typealias PlacedJoint = (
    name: JointName, confidence: Double, location: NormalizedPoint, x: Double, y: Double
  )

  /// - Parameters:
  ///   - size: The size of the upright image.
  ///   - id: The number of the person's track; nil for none.
  func document(in size: ImageSize, id: Int? = nil, _ decimals: Decimals = .all) -> JSONObject {
    let joints = placedJoints(in: size).map { joint -> (String, JSONObject) in
      let (x, y) = (decimals.share(joint.location.x), decimals.share(joint.location.y))
      return (
        joint.name.rawValue,
        [
          "confidence": decimals.share(joint.confidence), "location": ["x": x, "y": y] as JSONObject,
          "pixel": ["x": decimals.pixels(joint.x), "y": decimals.pixels(joint.y)] as JSONObject,
        ]
      )
    }
    return ["id": id, "confidence": decimals.share(confidence), "joints": Dictionary(uniqueKeysWithValues: joints)]
  }

  /// The joints in the order of their names, with their places in pixels of the upright image.
  fileprivate func placedJoints(in size: ImageSize) -> [PlacedJoint] {
    JointName.allCases.compactMap { name in
      keyPoints[name].map { joint in
        let pixel = joint.location.toImageCoordinates(size, origin: .upperLeft)
        return (name, Double(joint.confidence), joint.location, pixel.x, pixel.y)
      }
    }
  }
}
