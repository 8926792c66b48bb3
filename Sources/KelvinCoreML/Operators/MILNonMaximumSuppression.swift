import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Suppresses boxes.
  ///
  /// Up to iOS 16 boxes are `[N, B, 4]` and scores `[N, B, K]`, with a score threshold and an output of counts. From
  /// iOS 17 on the boxes come last (`[N, 4, B]`, `[N, K, B]`), without threshold and counts.
  static let nonMaximumSuppression = MILMapper(several: "non_maximum_suppression") { operation, scope in
    var boxes = try operation.value("boxes", scope)
    var scores = try operation.value("scores", scope)
    let scalar = scope.emitter.scalar(boxes)
    let overlap = try operation.value("iou_threshold", scope)
    let least = try operation.optional("score_threshold", scope)
    let count = try operation.required(try operation.integer("max_boxes", scope), "max_boxes", scope)
    let op = NonMaximumSuppression(
      maximumBoxes: count, isPerClass: try operation.flag("per_class_suppression", scope))
    if least == nil {
      boxes = try scope.emitter.transpose(boxes, [0, 2, 1], step: "boxes")
      scores = try scope.emitter.transpose(scores, [0, 2, 1], step: "scores")
    }
    let threshold = least ?? scope.emitter.constant(-.infinity, scalar, step: "no_threshold")
    let results = try scope.emitter.addAll(
      op,
      [
        boxes, scores, try scope.emitter.cast(overlap, to: scalar, step: "overlap"),
        try scope.emitter.cast(threshold, to: scalar, step: "threshold"),
      ])
    guard least == nil else { return results }
    return [
      try scope.emitter.transpose(results[0], [0, 2, 1], step: "picked_boxes"),
      try scope.emitter.transpose(results[1], [0, 2, 1], step: "picked_scores"), results[2],
    ]
  }
}
