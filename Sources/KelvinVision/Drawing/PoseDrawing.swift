public import Kelvin
import KelvinImages

extension PixelBuffer {
  /// Draws poses on the upright image: joints, lines between connected joints, and the joints' names.
  ///
  /// - Parameters:
  ///   - poses: The poses that a request found in this image.
  ///   - orientation: The orientation of the stored pixels.
  ///   - minimumConfidence: The smallest confidence of a joint that is drawn.
  ///   - hasNames: Whether names are written beside the joints.
  ///   - tracks: The numbers of the poses' tracks, in the order of the poses, which decide their colours; empty without
  ///     tracks.
  /// - Throws: `VisionError.image` where the image cannot be rotated.
  public func drawing(
    _ poses: [HumanBodyPoseObservation], orientation: ImageOrientation = .up, minimumConfidence: Float = 0.3,
    hasNames: Bool = true, tracks: [Int?] = []
  ) throws(VisionError) -> PixelBuffer {
    do throws(ImageError) {
      var canvas = Canvas(try oriented(orientation))
      let size = ImageSize(width: canvas.width, height: canvas.height)
      let drawn = poses.enumerated().map { place, pose in
        PoseLines(
          pose, in: size, from: minimumConfidence,
          ClassPalette.foreground((place < tracks.count ? tracks[place] : nil) ?? place))
      }
      for pose in drawn { pose.draw(on: &canvas) }
      if hasNames {
        var tags = TagPlacement(canvas)
        for pose in drawn { pose.spare(on: canvas, &tags) }
        for pose in drawn { pose.write(on: &canvas, &tags) }
      }
      return try canvas.image()
    } catch { throw .image(error) }
  }
}

/// A pose in pixels of a canvas.
private struct PoseLines {
  typealias JointName = HumanBodyPoseObservation.JointName

  private let points: [JointName: (x: Double, y: Double)]
  private let color: Canvas.Color

  /// The connected joints. The face is not connected to the shoulders.
  private static let bones: [(JointName, JointName)] = [
    (.leftEar, .leftEye), (.leftEye, .nose), (.nose, .rightEye), (.rightEye, .rightEar),
    (.leftShoulder, .rightShoulder),
    (.leftShoulder, .leftElbow), (.leftElbow, .leftWrist), (.rightShoulder, .rightElbow), (.rightElbow, .rightWrist),
    (.leftShoulder, .leftHip), (.rightShoulder, .rightHip), (.leftHip, .rightHip), (.leftHip, .leftKnee),
    (.leftKnee, .leftAnkle), (.rightHip, .rightKnee), (.rightKnee, .rightAnkle),
  ]

  init(_ pose: HumanBodyPoseObservation, in size: ImageSize, from least: Float, _ color: Canvas.Color) {
    self.color = color
    points = pose.keyPoints.compactMapValues { joint in
      let point = joint.location.toImageCoordinates(size, origin: .upperLeft)
      return joint.confidence >= least && point.x.isFinite && point.y.isFinite ? (point.x, point.y) : nil
    }
  }

  func draw(on canvas: inout Canvas) {
    let thickness = Double(canvas.stroke)
    for (width, color) in [(thickness + 2, color.ink), (thickness, color)] {
      for (a, b) in Self.bones {
        guard let from = points[a], let to = points[b] else { continue }
        canvas.line(from: from, to: to, thickness: width, color)
      }
    }
    for point in JointName.allCases.compactMap({ points[$0] }) {
      canvas.disc(at: point, radius: thickness + 2, color.ink)
      canvas.disc(at: point, radius: thickness + 1, color)
    }
  }

  /// Reserves the areas of the joints, so that labels avoid them.
  func spare(on canvas: Canvas, _ tags: inout TagPlacement) {
    for name in JointName.allCases {
      if let point = points[name] { tags.spare(square(point, canvas)) }
    }
  }

  /// Returns the area that a joint covers.
  private func square(_ point: (x: Double, y: Double), _ canvas: Canvas) -> PixelRect {
    let reach = canvas.stroke + 3
    return PixelRect(
      x: canvas.nearest(point.x, canvas.width) - reach, y: canvas.nearest(point.y, canvas.height) - reach,
      width: 2 * reach, height: 2 * reach)
  }

  func write(on canvas: inout Canvas, _ tags: inout TagPlacement) {
    for name in JointName.allCases {
      guard let point = points[name] else { continue }
      let rect = square(point, canvas)
      let size = canvas.tagSize(name.words)
      let place = tags.place(
        size,
        at: [
          (rect.x + rect.width, rect.y), (rect.x - size.width, rect.y), (rect.x, rect.y - size.height),
          (rect.x, rect.y + rect.height), (rect.x + rect.width, rect.y + rect.height),
          (rect.x - size.width, rect.y + rect.height),
        ])
      canvas.tag(name.words, x: place.x, y: place.y, color)
    }
  }
}

extension HumanBodyPoseObservation.JointName {
  /// The name in words: "left shoulder".
  fileprivate var words: String {
    rawValue.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
  }
}
