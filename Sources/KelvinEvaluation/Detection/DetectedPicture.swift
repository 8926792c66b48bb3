/// A box around something, in any unit: its corner, width and height.
public struct EvaluatedBox: Hashable, Sendable {
  public var x: Double
  public var y: Double
  public var width: Double
  public var height: Double

  public init(x: Double, y: Double, width: Double, height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

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

/// What a detector found on a picture, and what is there. Classes are numbers, the same in all pictures.
public struct DetectedPicture: Hashable, Sendable {
  public struct Detection: Hashable, Sendable {
    public var label: Int
    public var confidence: Double
    public var box: EvaluatedBox

    public init(label: Int, confidence: Double, box: EvaluatedBox) {
      (self.label, self.confidence, self.box) = (label, confidence, box)
    }
  }

  public struct Truth: Hashable, Sendable {
    public var label: Int
    public var box: EvaluatedBox
    /// Of what the box is around; the box's own where nothing else is known.
    public var area: Double
    /// Whether the box is around many: any number of detections may lie in it, and none has to.
    public var isCrowd: Bool

    public init(label: Int, box: EvaluatedBox, area: Double? = nil, isCrowd: Bool = false) {
      (self.label, self.box, self.area, self.isCrowd) = (label, box, area ?? box.area, isCrowd)
    }
  }

  public var detections: [Detection]
  public var truths: [Truth]

  public init(detections: [Detection], truths: [Truth]) { (self.detections, self.truths) = (detections, truths) }
}
