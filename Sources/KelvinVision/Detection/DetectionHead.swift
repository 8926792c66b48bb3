public import FoundationEssentials

/// How the numbers that a detector's last layer leaves become boxes, which model files do not say.
///
/// A head is a few lines of JSON beside the model (`docs/detection-heads.md`):
///
/// ```json
/// {"format": "kelvin-head", "version": 1, "family": "yolov8", "labels": ["otter", "heron"], "confidence": 0.3}
/// ```
public struct DetectionHead: Hashable, Sendable {
  /// The rule by which numbers become boxes.
  public enum Family: String, Hashable, Sendable, CaseIterable {
    /// A map for each stride, with a box for each of its anchors in each cell:
    /// `x = (σ(tx) + column) · stride`, `w = exp(tw) · anchor`.
    case yolov3
    /// The same with `x = (2σ(tx) − 1/2 + column) · stride`, `w = (2σ(tw))² · anchor`; or one array of boxes in which
    /// that is done.
    case yolov5
    /// One array of boxes with a score for each class.
    case yolov8
    /// One array of boxes, each with one score and the number of its class.
    case yolov10
    /// One array with a box for each cell of each stride's grid: `x = (tx + column) · stride`, `w = exp(tw) · stride`.
    case yolox
    /// Boxes and logits of queries, whose last class is that there is nothing.
    case detr
    /// Boxes and their scores as outputs of their own, and perhaps the numbers of their classes.
    case boxes
  }

  /// What the four numbers of a box are.
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

  /// What boxes are measured in.
  public enum Unit: String, Hashable, Sendable, CaseIterable {
    /// Pixels of the model's input.
    case pixels
    /// Shares of its sides.
    case shares
  }

  /// Where the numbers of one box lie.
  public enum Layout: String, Hashable, Sendable, CaseIterable {
    /// `[numbers, boxes]`, or maps `[numbers, rows, columns]`.
    case channelsFirst = "channels-first"
    /// `[boxes, numbers]`, or maps `[rows, columns, numbers]`.
    case channelsLast = "channels-last"
  }

  /// What makes scores of numbers.
  public enum Activation: String, Hashable, Sendable, CaseIterable {
    /// They are scores.
    case none
    /// Each class for itself, by the logistic function.
    case sigmoid
    /// All classes together, by softmax.
    case softmax
  }

  /// Which class means that there is nothing.
  public enum Background: String, Hashable, Sendable, CaseIterable {
    /// None does.
    case none
    /// Class 0; the others are counted from the next one on.
    case first
    /// The last one.
    case last
  }

  /// An anchor's size in pixels of the model's input.
  public struct Anchor: Hashable, Sendable {
    /// The width in pixels.
    public var width: Double
    /// The height in pixels.
    public var height: Double

    /// An anchor of a size in pixels.
    public init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  /// The rule by which numbers become boxes.
  public var family: Family
  /// The outputs with maps, in the order of ``strides``, or the one with the array of boxes; nil for those that can be
  /// meant.
  public var outputs: [String]?
  /// Of families ``Family/boxes`` and ``Family/detr``: the output with boxes; nil for the only one with rows of four.
  public var boxesOutput: String?
  /// Of the same: the output with scores; nil for the only one that can be meant.
  public var scoresOutput: String?
  /// Of the same: the output with numbers of classes, where scores are one for each box.
  public var classesOutput: String?
  /// Of the same: the output that says how many boxes there are, where the others have room for more.
  public var countOutput: String?
  /// Where the numbers of one box lie; nil for the family's usual order, or the only one that the labels allow.
  public var layout: Layout?
  /// What the four numbers of a box are, where the family leaves it open.
  public var boxForm: BoxForm
  /// What boxes are measured in, where the family leaves it open.
  public var unit: Unit
  /// What makes scores of numbers; nil for the family's usual one.
  public var activation: Activation?
  /// Whether a box has a number for there being anything, by which the scores of its classes are multiplied.
  public var hasObjectness: Bool
  /// Pixels of the model's input from one cell to the next, from 1, for each map or grid.
  public var strides: [Int]
  /// The anchors of each map, as many lists as there are strides, none of them empty.
  public var anchors: [[Anchor]]
  /// The classes' names from class 0 on, one for the background left out or not.
  public var labels: [String]?
  /// Which class means that there is nothing.
  public var background: Background
  /// How pixels enter a model whose input is a plain tensor, where the request does not say.
  public var normalization: PixelNormalization?
  /// Boxes of which the model is less sure are left out, 0…1.
  public var minimumConfidence: Float
  /// Of two boxes whose shared area is more than this share of what they cover together, the surer one is kept, 0…1; 1
  /// keeps all.
  public var maximumOverlap: Float
  /// Whether a box only suppresses boxes of its own class.
  public var isPerClass: Bool
  /// At most so many boxes are kept, the surest; from 0.
  public var maximumCount: Int

  /// A family's head as it usually is: confidence from 0.25 on, overlaps up to 0.45 within a class, 300 boxes; anchors
  /// and strides of the models that were published, trained on COCO.
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

  /// The head that a file describes.
  ///
  /// - Throws: `VisionError.invalidModel` with the field that is wrong, what was expected and what it has.
  public init(contentsOf url: URL) throws(VisionError) {
    try self.init(file: url.relativePath)
  }
}
