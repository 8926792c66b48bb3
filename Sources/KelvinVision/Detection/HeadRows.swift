import Glibc
import KelvinBasics

/// A strided view of an array with one row for each candidate box.
package struct HeadRows: Hashable {
  /// The index of the array among the head's outputs.
  var array = 0
  var offset = 0
  var count: Int
  var columns: Int
  var rowStride: Int
  var columnStride: Int

  /// Returns the offset of a number in its array.
  func place(_ row: Int, _ column: Int) -> Int { offset + row * rowStride + column * columnStride }

  /// Returns a view of some of the columns.
  func part(_ range: Range<Int>) -> HeadRows {
    var part = self
    part.offset += range.lowerBound * columnStride
    part.columns = range.count
    return part
  }
}

/// The boxes of one array, grid or anchor, and their scores.
package struct HeadPart: Hashable {
  var boxes: HeadRows
  var rule: BoxRule
  /// One column for each class, the background included; or one column for all classes where `classes` is set.
  var scores: HeadRows
  /// One column with the objectness, which multiplies the scores.
  var objectness: HeadRows?
  /// One column with the index of the box's class.
  package var classes: HeadRows?
}

/// The rule by which four numbers become a box in pixels of the model's input.
enum BoxRule: Hashable {
  /// A complete box, scaled by the input's width and height where coordinates are shares.
  case plain(DetectionHead.BoxForm, scaleX: Double, scaleY: Double)
  /// Offsets from a cell's corner and logarithms of width and height, both in strides.
  case grid(stride: Double, width: Int)
  /// Logits of offsets from a cell's corner, in strides, and logarithms of width and height relative to an anchor.
  case anchor(DetectionHead.Anchor, stride: Double, width: Int)
  /// Logits of offsets in −1/2…3/2 strides, and of width and height of up to four times an anchor.
  case boundedAnchor(DetectionHead.Anchor, stride: Double, width: Int)

  /// Whether objectness and class scores are logits too, as they are in raw maps.
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
