/// A box around something, in any unit, the same in all images.
public struct EvaluatedBox: Hashable, Sendable {
  /// Of its corner with the least numbers.
  public var x: Double
  /// Of the same corner.
  public var y: Double
  /// Along x.
  public var width: Double
  /// Along y.
  public var height: Double

  /// A box by its corner and extents.
  public init(x: Double, y: Double, width: Double, height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// In the unit's square.
  public var area: Double { width * height }

  /// The part that two boxes share of all they cover; of this one alone where the other is a crowd.
  func overlap(with truth: EvaluatedBox, isCrowd: Bool) -> Double {
    let across = min(x + width, truth.x + truth.width) - max(x, truth.x)
    let down = min(y + height, truth.y + truth.height) - max(y, truth.y)
    guard across > 0, down > 0 else { return 0 }
    let shared = across * down
    return shared / (isCrowd ? area : area + truth.area - shared)
  }
}

/// What a detector found on an image, and what is there. Classes are numbers, the same in all images.
public struct DetectedImage: Hashable, Sendable {
  /// Something that was found.
  public struct Detection: Hashable, Sendable {
    /// Its class's number.
    public var label: Int
    /// How much it is believed; only the order counts.
    public var confidence: Double
    /// Where it was found.
    public var box: EvaluatedBox

    /// What was found, and where.
    public init(label: Int, confidence: Double, box: EvaluatedBox) {
      (self.label, self.confidence, self.box) = (label, confidence, box)
    }
  }

  /// Something that is there.
  public struct Truth: Hashable, Sendable {
    /// Its class's number.
    public var label: Int
    /// Where it is.
    public var box: EvaluatedBox
    /// Of what the box is around; the box's own where nothing else is known.
    public var area: Double
    /// Whether the box is around many: any number of detections may lie in it, and none has to.
    public var isCrowd: Bool

    /// Something of a class in a box.
    ///
    /// - Parameters:
    ///   - label: its class's number.
    ///   - box: around it.
    ///   - area: of what is in the box, in the unit's square; the box's own where nil.
    ///   - isCrowd: whether the box is around many.
    public init(label: Int, box: EvaluatedBox, area: Double? = nil, isCrowd: Bool = false) {
      (self.label, self.box, self.area, self.isCrowd) = (label, box, area ?? box.area, isCrowd)
    }
  }

  /// In any order; equally sure ones are taken in this.
  public var detections: [Detection]
  /// All that is there, of every class that counts.
  public var truths: [Truth]

  /// An image with what was found and what is there.
  public init(detections: [Detection], truths: [Truth]) { (self.detections, self.truths) = (detections, truths) }
}
