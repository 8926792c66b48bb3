import KelvinGraph

extension MILMapper {
  static let nonMaximumSuppression = MILMapper(several: "non_maximum_suppression") { operation, scope in
    let boxes = try operation.value("boxes", &scope)
    let scores = try operation.value("scores", &scope)
    let overlap = try operation.value("iou_threshold", &scope)
    let score = try operation.value("score_threshold", &scope)
    let count = try operation.required(try operation.integer("max_boxes", scope), "max_boxes", scope)
    let isPerClass = try operation.flag("per_class_suppression", scope)
    return try scope.emitter.addAll(
      NonMaximumSuppression(maximumBoxes: count, isPerClass: isPerClass), [boxes, scores, overlap, score])
  }
}
