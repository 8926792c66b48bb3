public import FoundationEssentials

/// A description of how the outputs of a detector's last layer become boxes. Model files do not contain this
/// information.
///
/// A head is a short JSON file next to the model (`docs/detection-heads.md`):
///
/// ```json
/// {"format": "kelvin-head", "version": 1, "family": "yolov8", "labels": ["otter", "heron"], "confidence": 0.3}
/// ```
public struct DetectionHead: Hashable, Sendable {
  /// The rule by which output numbers become boxes.
  public enum Family: String, Hashable, Sendable, CaseIterable {
    /// A map for each stride, with a box for each anchor in each cell: `x = (σ(tx) + column) · stride`,
    /// `w = exp(tw) · anchor`.
    case yolov3
    /// As ``yolov3``, with `x = (2σ(tx) − 1/2 + column) · stride` and `w = (2σ(tw))² · anchor`; or one array of boxes
    /// that the model has decoded so.
    case yolov5
    /// One array of boxes with a score for each class.
    case yolov8
    /// One array of boxes, each with one score and one class index.
    case yolov10
    /// One array with a box for each cell of each stride's grid: `x = (tx + column) · stride`, `w = exp(tw) · stride`.
    case yolox
    /// Boxes and logits of queries. The last class means that there is no object.
    case detr
    /// Boxes, their scores, and optionally their class indices as separate outputs.
    case boxes
  }

  /// The meaning of the four numbers of a box.
  public enum BoxForm: String, Hashable, Sendable, CaseIterable {
    /// Centre x, centre y, width, height.
    case center
    /// Left, top, right, bottom.
    case corners
    /// Top, left, bottom, right.
    case cornersYX = "corners-yx"
    /// Left, top, width, height.
    case cornerAndSize = "corner-size"
  }

  /// The unit of box coordinates.
  public enum Unit: String, Hashable, Sendable, CaseIterable {
    /// Pixels of the model's input.
    case pixels
    /// Shares of the model's input width and height.
    case shares
  }

  /// The order of axes in an output.
  public enum Layout: String, Hashable, Sendable, CaseIterable {
    /// `[numbers, boxes]`, or maps `[numbers, rows, columns]`.
    case channelsFirst = "channels-first"
    /// `[boxes, numbers]`, or maps `[rows, columns, numbers]`.
    case channelsLast = "channels-last"
  }

  /// The function that converts output numbers to scores.
  public enum Activation: String, Hashable, Sendable, CaseIterable {
    /// No function: the numbers are scores.
    case none
    /// The logistic function, for each class separately.
    case sigmoid
    /// Softmax over all classes.
    case softmax
  }

  /// The class that means that there is no object.
  public enum Background: String, Hashable, Sendable, CaseIterable {
    /// No class.
    case none
    /// Class 0. The other classes are numbered from the next one on.
    case first
    /// The last class.
    case last
  }

  /// An anchor's size in pixels of the model's input.
  public struct Anchor: Hashable, Sendable {
    /// The width in pixels.
    public var width: Double
    /// The height in pixels.
    public var height: Double

    /// Creates an anchor from its size in pixels.
    public init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  /// The rule by which output numbers become boxes.
  public var family: Family
  /// The names of the outputs: maps in the order of ``strides``, or the array of boxes; nil where they can be inferred.
  public var outputs: [String]?
  /// The name of the output with boxes, for families ``Family/boxes`` and ``Family/detr``; nil for the only output with
  /// rows of four numbers.
  public var boxesOutput: String?
  /// The name of the output with scores, for the same families; nil where it can be inferred.
  public var scoresOutput: String?
  /// The name of the output with class indices, for family ``Family/boxes`` with one score per box.
  public var classesOutput: String?
  /// The name of the output with the number of boxes, for family ``Family/boxes``, where the other outputs are padded.
  public var countOutput: String?
  /// The order of axes; nil for the family's usual order, or the only order that the number of labels allows.
  public var layout: Layout?
  /// The meaning of the four numbers of a box, for families that leave it open.
  public var boxForm: BoxForm
  /// The unit of box coordinates, for families that leave it open.
  public var unit: Unit
  /// The function that converts output numbers to scores; nil for the family's usual one.
  public var activation: Activation?
  /// Whether a box has an objectness score, which multiplies the scores of its classes.
  public var hasObjectness: Bool
  /// The distance between neighbouring cells in pixels of the model's input, at least 1, for each map or grid.
  public var strides: [Int]
  /// The anchors of each map: one non-empty list per stride.
  public var anchors: [[Anchor]]
  /// The names of the classes from class 0 on, with or without a name for the background.
  public var labels: [String]?
  /// The class that means that there is no object.
  public var background: Background
  /// The normalization of pixels for a model whose input is a plain tensor; a request's normalization takes precedence.
  public var normalization: PixelNormalization?
  /// The smallest confidence of a box that is kept, 0…1.
  public var minimumConfidence: Float
  /// The largest intersection over union of two boxes that are both kept, 0…1. Of boxes that overlap more, the most
  /// confident is kept. At 1 all boxes are kept.
  public var maximumOverlap: Float
  /// Whether a box only suppresses boxes of its own class.
  public var isPerClass: Bool
  /// The largest number of boxes that are kept, the most confident first; not negative.
  public var maximumCount: Int

  /// Creates a family's usual head. The limits are a confidence of 0.25, an overlap of 0.45 within a class (1 for
  /// `yolov10` and `detr`), and 300 boxes. The strides and anchors are those of the published COCO models.
  public init(_ family: Family) {
    self.family = family
    boxForm = [.yolov10, .boxes].contains(family) ? .corners : .center
    unit = family == .detr ? .shares : .pixels
    hasObjectness = [.yolov3, .yolov5, .yolox].contains(family)
    strides = [8, 16, 32]
    anchors = family == .yolov3 || family == .yolov5 ? Self.published : []
    background = family == .detr ? .last : .none
    minimumConfidence = 0.25
    maximumOverlap = [.yolov10, .detr].contains(family) ? 1 : 0.45
    isPerClass = true
    maximumCount = 300
  }

  private static let published = [
    [(10, 13), (16, 30), (33, 23)], [(30, 61), (62, 45), (59, 119)], [(116, 90), (156, 198), (373, 326)],
  ].map { $0.map { Anchor(width: $0.0, height: $0.1) } }

  /// Reads a head from a JSON file.
  ///
  /// - Throws: `VisionError.invalidModel` with the invalid field, the expected and the found value.
  public init(contentsOf url: URL) throws(VisionError) {
    try self.init(file: url.relativePath)
  }
}
