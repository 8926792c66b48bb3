package import KelvinGraph

/// Returns the boxes that non-maximum suppression kept, as arrays with as many rows. `scoresOutput` is `[n, K]`, with
/// one column for each label, and `boxesOutput` is `[n, 4]`.
///
/// Boxes are center x, center y, width and height, by Core ML's convention in fractions of the image, from its top left
/// corner.
package struct KeptBoxes: HostOperation {
  package static let name = "kept_boxes"
  /// The class of each column; nil if the model does not name the classes.
  package var labels: Labels?
  /// `[1, M, 4]`, `[1, M, K]` and the number of kept boxes, int32 `[1]`. The rows from that number on are zero.
  package var boxes: String
  package var scores: String
  package var count: String
  package var boxesOutput: String
  package var scoresOutput: String
  /// The allowed number of rows of the outputs: rows of zeros are added to fewer boxes, and more boxes are cut.
  package var rows: ClosedRange<Int>

  package init(
    labels: Labels?, boxes: String, scores: String, count: String, boxesOutput: String, scoresOutput: String,
    rows: ClosedRange<Int> = 0...Int.max
  ) {
    self.labels = labels
    self.boxes = boxes
    self.scores = scores
    self.count = count
    self.boxesOutput = boxesOutput
    self.scoresOutput = scoresOutput
    self.rows = rows
  }

  package var inputs: [String] { [boxes, scores, count] }
  package var outputs: [String] { [boxesOutput, scoresOutput] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (boxes, scores) = (try tensor(0, inputs), try tensor(1, inputs))
    guard boxes.shape.rank >= 2, scores.shape.rank >= 2 else {
      throw refused(0, "expected rows of boxes and of scores, got \(boxes.type) and \(scores.type)")
    }
    let there = min(boxes.shape[boxes.shape.rank - 2], scores.shape[scores.shape.rank - 2])
    let kept = min(max(try tensor(2, inputs).integers.first ?? 0, 0), there)
    let count = min(max(kept, rows.lowerBound), rows.upperBound)
    return [.tensor(firstRows(count, of: boxes)), .tensor(firstRows(count, of: scores))]
  }

  /// Returns the first rows of the last two axes, with zeros added if there are fewer.
  private func firstRows(_ count: Int, of padded: Tensor) -> Tensor {
    let columns = padded.shape.dimensions.last ?? 0
    let type = TensorType(padded.type.scalar, [count, columns])
    return Tensor(
      type,
      Bytes(count: type.byteCount) { memory in
        padded.bytes.withUnsafeBytes { raw in
          memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: raw[..<min(raw.count, memory.count)]))
        }
      })
  }
}
