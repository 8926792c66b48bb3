/// A box around an object, in any unit that is the same in all images.
public struct EvaluatedBox: Hashable, Sendable {
  /// The x coordinate of the corner with the smallest coordinates.
  public var x: Double
  /// The y coordinate of the corner with the smallest coordinates.
  public var y: Double
  /// The extent along x.
  public var width: Double
  /// The extent along y.
  public var height: Double

  /// Creates a box from its corner and extents.
  public init(x: Double, y: Double, width: Double, height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The area in squared units.
  public var area: Double { width * height }

  /// Returns the intersection over union with an object's box. For a crowd, the intersection is divided by the area of
  /// this box alone.
  func overlap(with truth: EvaluatedBox, isCrowd: Bool) -> Double {
    let across = min(x + width, truth.x + truth.width) - max(x, truth.x)
    let down = min(y + height, truth.y + truth.height) - max(y, truth.y)
    guard across > 0, down > 0 else { return 0 }
    let shared = across * down
    return shared / (isCrowd ? area : area + truth.area - shared)
  }
}

/// The detections and the objects of an image. Classes are integers with the same meaning in all images.
public struct DetectedImage: Hashable, Sendable {
  /// A detected object.
  public struct Detection: Hashable, Sendable {
    /// The index of the class.
    public var label: Int
    /// The confidence; only the order matters.
    public var confidence: Double
    /// The detected box.
    public var box: EvaluatedBox

    /// Creates a detection from its class, confidence and box.
    public init(label: Int, confidence: Double, box: EvaluatedBox) {
      (self.label, self.confidence, self.box) = (label, confidence, box)
    }
  }

  /// An object that is in the image.
  public struct Truth: Hashable, Sendable {
    /// The index of the class.
    public var label: Int
    /// The object's box.
    public var box: EvaluatedBox
    /// The area of the object; by default the area of the box.
    public var area: Double
    /// Whether the box contains a crowd of objects. Any number of detections may match a crowd, and none is required.
    public var isCrowd: Bool

    /// Creates an object.
    ///
    /// - Parameters:
    ///   - label: The index of the class.
    ///   - box: The object's box.
    ///   - area: The area of the object in squared units; the box's area where nil.
    ///   - isCrowd: Whether the box contains a crowd of objects.
    public init(label: Int, box: EvaluatedBox, area: Double? = nil, isCrowd: Bool = false) {
      (self.label, self.box, self.area, self.isCrowd) = (label, box, area ?? box.area, isCrowd)
    }
  }

  /// The detections. Their order decides between equal confidences.
  public var detections: [Detection]
  /// All objects in the image of the classes that are evaluated.
  public var truths: [Truth]

  /// Creates an image from its detections and objects.
  public init(detections: [Detection], truths: [Truth]) { (self.detections, self.truths) = (detections, truths) }
}
