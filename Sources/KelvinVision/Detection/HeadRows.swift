import Glibc
import KelvinBasics

/// Numbers of an array as rows, one for each box that a head may give.
struct HeadRows: Hashable {
  /// Which of the head's arrays they lie in.
  var array = 0
  var offset = 0
  var count: Int
  var columns: Int
  var rowStride: Int
  var columnStride: Int

  /// The place of a number in its array.
  func place(_ row: Int, _ column: Int) -> Int { offset + row * rowStride + column * columnStride }

  /// Some of the columns.
  func part(_ range: Range<Int>) -> HeadRows {
    var part = self
    part.offset += range.lowerBound * columnStride
    part.columns = range.count
    return part
  }
}

/// Boxes of one array, grid or anchor, and where their scores are.
struct HeadPart: Hashable {
  var boxes: HeadRows
  var rule: BoxRule
  /// One column for each class, the background included; or one for all of them, with `classes`.
  var scores: HeadRows
  /// One column, by which scores are multiplied.
  var objectness: HeadRows?
  /// One column with the number of the box's class.
  var classes: HeadRows?
}

/// How four numbers become a box in pixels of the model's input.
enum BoxRule: Hashable {
  /// A box as it is, times the sides of the input where it is in shares of them.
  case plain(DetectionHead.BoxForm, scaleX: Double, scaleY: Double)
  /// Offsets from a cell's corner and logarithms of sides, both in strides.
  case grid(stride: Double, width: Int)
  /// Logits of offsets from a cell's corner, in strides, and logarithms of shares of an anchor.
  case anchor(DetectionHead.Anchor, stride: Double, width: Int)
  /// Offsets in -1/2…3/2 strides and up to four times an anchor, by logits.
  case boundedAnchor(DetectionHead.Anchor, stride: Double, width: Int)

  /// Whether the numbers beside those of the box are logits too, as those of raw maps are.
  var isOfLogits: Bool {
    switch self {
    case .anchor, .boundedAnchor: true
    case .plain, .grid: false
    }
  }

  func box(_ row: Int, _ a: Double, _ b: Double, _ c: Double, _ d: Double) -> CenteredBox {
    switch self {
    case .plain(let form, let scaleX, let scaleY):
      let box =
        switch form {
        case .center: CenteredBox(x: a, y: b, width: c, height: d)
        case .corners: CenteredBox(x: (a + c) / 2, y: (b + d) / 2, width: c - a, height: d - b)
        case .cornersYX: CenteredBox(x: (b + d) / 2, y: (a + c) / 2, width: d - b, height: c - a)
        case .cornerAndSize: CenteredBox(x: a + c / 2, y: b + d / 2, width: c, height: d)
        }
      return CenteredBox(x: box.x * scaleX, y: box.y * scaleY, width: box.width * scaleX, height: box.height * scaleY)
    case .grid(let stride, let width):
      return CenteredBox(
        x: (a + Double(row % width)) * stride, y: (b + Double(row / width)) * stride, width: exp(c) * stride,
        height: exp(d) * stride)
    case .anchor(let anchor, let stride, let width):
      return CenteredBox(
        x: (logistic(a) + Double(row % width)) * stride, y: (logistic(b) + Double(row / width)) * stride,
        width: exp(c) * anchor.width, height: exp(d) * anchor.height)
    case .boundedAnchor(let anchor, let stride, let width):
      let (wide, high) = (2 * logistic(c), 2 * logistic(d))
      return CenteredBox(
        x: (2 * logistic(a) - 0.5 + Double(row % width)) * stride,
        y: (2 * logistic(b) - 0.5 + Double(row / width)) * stride, width: wide * wide * anchor.width,
        height: high * high * anchor.height)
    }
  }
}
