/// Picks boxes in descending order of score, except those that overlap a picked box too much.
package struct NonMaximumSuppression: Operator {
  package static let name = "non_maximum_suppression"
  package var maximumBoxes: Int
  package var isPerClass: Bool

  package init(maximumBoxes: Int, isPerClass: Bool = false) {
    self.maximumBoxes = maximumBoxes
    self.isPerClass = isPerClass
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 4...4)
    let (boxes, scores) = (inputs[0], inputs[1])
    guard boxes.scalar.isFloatingPoint, inputs.allSatisfy({ $0.scalar == boxes.scalar }), boxes.shape.rank == 3,
      scores.shape.rank == 3, boxes.shape[2] == 4, scores.shape[2] > 0,
      boxes.shape.dimensions.prefix(2) == scores.shape.dimensions.prefix(2)
    else {
      throw OperatorError("expected [N, B, 4] and [N, B, K] of one floating-point type, got \(boxes) and \(scores)")
    }
    for (name, type) in zip(["overlap", "score"], inputs.dropFirst(2)) where type.count != 1 {
      throw OperatorError("\(name) threshold: expected one number, got \(type)")
    }
    guard (0..<(1 << 31)).contains(maximumBoxes) else {
      throw OperatorError("cannot pick \(maximumBoxes) boxes: expected 0 to 2^31 - 1")
    }
    let (images, classes) = (boxes.shape[0], scores.shape[2])
    let outputs = [
      TensorType(boxes.scalar, [images, maximumBoxes, 4]), TensorType(boxes.scalar, [images, maximumBoxes, classes]),
      TensorType(.int32, [images, maximumBoxes]), TensorType(.int32, [images]),
    ]
    guard outputs.allSatisfy(\.shape.isAddressable) else {
      throw OperatorError("\(maximumBoxes) boxes of each image of \(boxes) are too many")
    }
    return outputs
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    let candidates = Double(inputs[0].shape[1])
    return Double(inputs[1].count)
      + Double(inputs[0].shape[0]) * candidates * 16 * min(Double(maximumBoxes), candidates)
  }

  package static let summary = OperatorSummary(
    formula: "box i is picked if score(i) ≥ score threshold, and IoU(i, j) ≤ overlap threshold for every picked j",
    notes: """
      A box's score is the largest of its `K` scores, except not-a-number, and its class is the first one with it. \
      Boxes without a score are omitted. Of equal scores the lower index comes first.

      The overlap is the shared area divided by the area of the union. A box with a negative size or with not-a-number \
      among its numbers shares no area.
      """,
    inputs: [
      ("boxes", "`[N, B, 4]` as center x, center y, width and height, floating-point"),
      ("scores", "`[N, B, K]`, the boxes' element type"),
      ("overlap threshold", "one number of that type"),
      ("score threshold", "one number of that type"),
    ],
    outputs: [
      ("boxes", "the picked boxes `[N, M, 4]`; entries after the count hold zeros"),
      ("scores", "their scores `[N, M, K]`; entries after the count hold zeros"),
      ("indices", "int32 `[N, M]`; entries after the count hold -1"),
      ("counts", "int32 `[N]`"),
    ])

  package static let schema = AttributeSchema(
    NonMaximumSuppression(maximumBoxes: 0),
    .required("maximum_boxes", \.maximumBoxes, "`M`, the greatest number of picked boxes of each image"),
    .optional("per_class", \.isPerClass, "whether a box only suppresses boxes of its own class"))
}
