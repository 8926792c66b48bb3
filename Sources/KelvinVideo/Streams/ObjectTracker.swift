import KelvinBasics
import KelvinTracking
public import KelvinVision

/// Follows detected objects from frame to frame, by the overlap and the motion of their boxes.
///
/// The association is that of ByteTrack (Zhang et al., ECCV 2022), with real times between frames: objects of low
/// confidence continue tracks, but do not begin them. So a detector should give all objects from about 0.1 on.
public struct ObjectTracker: Sendable {
  private var tracker: BoxTracker
  private var labels: [ExactString: Int] = [:]

  /// Creates a tracker of one video.
  ///
  /// - Parameter parameters: The parameters of the association.
  public init(_ parameters: StreamParameters = StreamParameters()) { tracker = BoxTracker(parameters.tracking) }

  /// Associates the objects of a frame with tracks.
  ///
  /// - Parameters:
  ///   - objects: The objects of the frame, in any order.
  ///   - size: The size of the upright frame in pixels.
  ///   - time: The time of the frame. It may advance by any steps; a step back by more than a second ends all tracks.
  /// - Returns: The objects in the same order, each with its track.
  public mutating func update(
    _ objects: [RecognizedObjectObservation], in size: ImageSize, at time: Duration
  ) -> [TrackedObject] {
    let boxes = objects.map { object in
      let box = object.boundingBox.toImageCoordinates(size, origin: .upperLeft)
      return TrackedBox(
        x: box.x, y: box.y, width: box.width, height: box.height, score: Double(object.confidence),
        label: label(object.labels.first?.identifier))
    }
    return zip(objects, tracker.update(boxes, at: time.inSeconds)).map { object, track in
      var tracked = TrackedObject(object)
      tracked.id = track.id
      tracked.age = .limited(seconds: track.age)
      tracked.isFoundAgain = track.isFoundAgain
      return tracked
    }
  }

  private mutating func label(_ name: String?) -> Int {
    guard let name else { return -1 }
    let label = labels[ExactString(name)] ?? labels.count
    labels[ExactString(name)] = label
    return label
  }
}
