package import KelvinGraph

/// Draws boxes on an image (`DrawBoundingBoxes` of onnxruntime-extensions). Inputs: pixels `[height, width, 3]`, blue
/// first, and boxes `[n, 6]` in pixels: four numbers of the place, the score and the class. Boxes of higher scores are
/// drawn above others.
package struct BoxDrawing: SlotOperation {
  package static let name = "box_drawing"

  /// The meaning of the four numbers.
  package enum Form: String, Hashable, Sendable {
    /// The left, top, right and bottom edges.
    case edges = "XYXY"
    /// The left and top edges, the width and the height.
    case cornerAndSize = "XYWH"
    /// The centre, the width and the height.
    case centreAndSize = "CENTER_XYWH"
  }

  package let form: Form
  /// The width of the lines in pixels.
  package let thickness: Int
  /// Whether each class has a color; otherwise each box has one.
  package let colorsClasses: Bool
  package let slots: HostSlots

  /// The colors, blue first.
  private static let colors: [[UInt8]] = [
    [0, 0, 255], [0, 255, 255], [0, 255, 0], [255, 0, 0], [255, 255, 0], [255, 0, 255], [0, 128, 255], [0, 0, 128],
    [0, 128, 0], [128, 0, 0],
  ]

  package init(_ form: Form, thickness: Int, colorsClasses: Bool, _ slots: HostSlots) {
    self.form = form
    self.thickness = thickness
    self.colorsClasses = colorsClasses
    self.slots = slots
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { [inputs[0]] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var (pixels, shape) = try pixels(0, inputs)
    let tensor = try tensor(1, inputs)
    guard tensor.shape.rank == 2, tensor.shape[1] == 6 else {
      throw refused(1, "expected boxes [n, 6], got \(tensor.type)")
    }
    let numbers = tensor.floats
    let boxes = (0..<tensor.shape[0]).map { Array(numbers[6 * $0..<6 * $0 + 6]) }
    let ordered = boxes.enumerated().sorted { ($1.element[4], $0.offset) < ($0.element[4], $1.offset) }.map(\.element)
    for (box, color) in colored(ordered).reversed() {
      for bar in bars(of: box, shape) { fill(&pixels, bar, Self.colors[color], shape) }
    }
    return [.tensor(Tensor(TensorType(.uint8, shape), Bytes(pixels)))]
  }

  /// Returns the boxes that have a color, by colors if these are of classes.
  private func colored(_ boxes: [[Float]]) -> [(box: [Float], color: Int)] {
    guard colorsClasses else { return Array(zip(boxes, Self.colors.indices)) }
    var classes: [Float: Int] = [:]
    var colored: [(box: [Float], color: Int)] = []
    for box in boxes {
      if classes[box[5]] == nil, classes.count < Self.colors.count { classes[box[5]] = classes.count }
      if let color = classes[box[5]] { colored.append((box, color)) }
    }
    return colored.enumerated().sorted { ($0.element.color, $0.offset) < ($1.element.color, $1.offset) }.map(\.element)
  }

  /// Returns the columns and rows of the lines of a box; none for a box without an area in the image.
  private func bars(of box: [Float], _ shape: Shape) -> [(columns: Range<Int>, rows: Range<Int>)] {
    let (starts, ends) = edges(of: box)
    var (low, high) = ([0, 0], [0, 0])
    for axis in 0..<2 {
      let most = Float(shape[1 - axis] - 1)
      high[axis] = Int(Self.clamped(ends[axis], most))
      low[axis] = Int(Self.clamped(starts[axis], Float(high[axis])))
    }
    let smallest = min(high[0] - low[0], high[1] - low[1])
    let width = min(thickness, smallest)
    guard width >= 1 else { return [] }
    for axis in 0..<2 {
      if width != smallest {
        low[axis] -= width / 2
        high[axis] += width - width / 2
      }
      high[axis] = min(max(high[axis], 0), shape[1 - axis] - 1)
      low[axis] = min(max(low[axis], 0), high[axis])
    }
    let (columns, rows) = (low[0]..<high[0], low[1]..<high[1])
    let (left, right) = (low[0]..<low[0] + width, max(0, high[0] - width)..<high[0])
    let (top, bottom) = (low[1]..<low[1] + width, max(0, high[1] - width)..<high[1])
    return [(columns, top), (left, rows), (columns, bottom), (right, rows)]
  }

  /// Returns the left and top edges, and the right and bottom edges.
  private func edges(of box: [Float]) -> (starts: [Float], ends: [Float]) {
    switch form {
    case .edges: ([box[0], box[1]], [box[2], box[3]])
    case .cornerAndSize: ([box[0], box[1]], [box[0] + box[2], box[1] + box[3]])
    case .centreAndSize:
      ([box[0] - box[2] / 2, box[1] - box[3] / 2], [box[0] + box[2] / 2, box[1] + box[3] / 2])
    }
  }

  private static func clamped(_ value: Float, _ most: Float) -> Float {
    value.isNaN ? 0 : min(max(value.rounded(), 0), max(most, 0))
  }

  private func fill(
    _ pixels: inout [UInt8], _ bar: (columns: Range<Int>, rows: Range<Int>), _ color: [UInt8], _ shape: Shape
  ) {
    for row in bar.rows where row < shape[0] {
      for column in bar.columns where column < shape[1] {
        let start = (row * shape[1] + column) * 3
        pixels.replaceSubrange(start..<start + 3, with: color)
      }
    }
  }
}
