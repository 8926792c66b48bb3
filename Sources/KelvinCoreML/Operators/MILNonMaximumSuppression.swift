import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Suppresses boxes.
  ///
  /// Up to iOS 16 boxes are `[N, B, 4]` and scores `[N, B, K]`, with a score threshold and an output of counts. From
  /// iOS 17 on the boxes come last (`[N, 4, B]`, `[N, K, B]`), without threshold and counts.
  static let nonMaximumSuppression = MILMapper(several: "non_maximum_suppression") { c in
    var boxes = try c.value("boxes")
    var scores = try c.value("scores")
    let scalar = c.emitter.scalar(boxes)
    let overlap = try c.value("iou_threshold")
    let least = try c.optional("score_threshold")
    let count = try c.required("max_boxes", c.integer)
    let op = NonMaximumSuppression(maximumBoxes: count, isPerClass: try c.flag("per_class_suppression"))
    if least == nil {
      boxes = try c.emitter.transpose(boxes, [0, 2, 1], step: "boxes")
      scores = try c.emitter.transpose(scores, [0, 2, 1], step: "scores")
    }
    let threshold = least ?? c.emitter.constant(-.infinity, scalar, step: "no_threshold")
    let results = try c.emitter.addAll(
      op,
      [
        boxes, scores, try c.emitter.cast(overlap, to: scalar, step: "overlap"),
        try c.emitter.cast(threshold, to: scalar, step: "threshold"),
      ])
    guard least == nil else { return results }
    return [
      try c.emitter.transpose(results[0], [0, 2, 1], step: "picked_boxes"),
      try c.emitter.transpose(results[1], [0, 2, 1], step: "picked_scores"), results[2],
    ]
  }
}
