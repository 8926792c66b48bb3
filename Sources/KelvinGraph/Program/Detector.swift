/// How a detector's two array features come out of the padded tensors of `NonMaximumSuppression`.
///
/// With `n` the number of boxes that were kept, `confidenceOutput` is `[n, K]`, one column for each label, and
/// `coordinatesOutput` is `[n, 4]`: centre x, centre y, width and height, by Core ML's convention in fractions of the
/// picture, from its top left corner.
package struct Detector: Sendable, Hashable {
  /// The class of each column; nil where the model does not name them.
  package var labels: Classifier.Labels?
  /// The output features.
  package var confidenceOutput: String
  package var coordinatesOutput: String
  /// Positions in `Graph.outputs`: boxes `[1, M, 4]`, scores `[1, M, K]` and the number of boxes kept, int32 `[1]`.
  /// The rows from that number on are zero.
  package var boxesGraphOutput: Int
  package var scoresGraphOutput: Int
  package var countGraphOutput: Int
  /// The optional inputs of type double that override the model's thresholds, where it has them.
  package var iouThresholdInput: String?
  package var confidenceThresholdInput: String?
  /// How many rows the outputs may have: fewer boxes are followed by rows of zeros, more are cut.
  package var rows: ClosedRange<Int>

  package init(
    labels: Classifier.Labels?, confidenceOutput: String, coordinatesOutput: String, boxesGraphOutput: Int,
    scoresGraphOutput: Int, countGraphOutput: Int, iouThresholdInput: String? = nil,
    confidenceThresholdInput: String? = nil, rows: ClosedRange<Int> = 0...Int.max
  ) {
    self.labels = labels
    self.confidenceOutput = confidenceOutput
    self.coordinatesOutput = coordinatesOutput
    self.boxesGraphOutput = boxesGraphOutput
    self.scoresGraphOutput = scoresGraphOutput
    self.countGraphOutput = countGraphOutput
    self.iouThresholdInput = iouThresholdInput
    self.confidenceThresholdInput = confidenceThresholdInput
    self.rows = rows
  }

  /// How many rows the outputs have when `kept` boxes were kept. It may be more than the graph's tensors have.
  package func rowCount(kept: Int) -> Int { min(max(kept, rows.lowerBound), rows.upperBound) }
}
