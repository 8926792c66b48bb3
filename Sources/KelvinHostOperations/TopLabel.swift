package import KelvinGraph

/// Returns the label of the largest score, the first of equal ones; not-a-number is less than every number.
package struct TopLabel: OneOutputOperation {
  package static let name = "top_label"
  package var labels: Labels
  /// The tensor that holds one score for each label.
  package var scores: String
  package var output: String
  /// Whether the tensor may have more rows than the first; they are ignored.
  package var readsFirstRow: Bool

  package init(_ labels: Labels, scores: String, output: String, readsFirstRow: Bool = false) {
    self.labels = labels
    self.scores = scores
    self.output = output
    self.readsFirstRow = readsFirstRow
  }

  package var inputs: [String] { [scores] }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    if case .tensor(let type) = inputs[0] { try check(type.shape.count) }
    return [labels.isString ? .strings([1]) : .tensor(TensorType(.int64, [1]))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let scores = try tensor(0, inputs).doubles
    try check(scores.count)
    return [labels.value(at: [winner(scores[...])])]
  }

  /// Returns the index of the largest among the first scores, as many as there are labels.
  func winner(_ scores: ArraySlice<Double>) -> Int {
    let start = scores.startIndex
    var best = start
    for index in start + 1..<start + max(labels.count, 1)
    where scores[best].isNaN || scores[index] > scores[best] { best = index }
    return best - start
  }

  func check(_ count: Int) throws(HostOperationError) {
    let fits = readsFirstRow ? labels.count > 0 && count > 0 && count % labels.count == 0 : count == labels.count
    guard fits, count > 0 else { throw refused(0, "it has \(count) elements for \(labels.count) labels") }
  }
}
