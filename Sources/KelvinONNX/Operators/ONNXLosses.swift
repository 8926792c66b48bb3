import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let losses: [ONNXMapper] = [negativeLogLikelihood, softmaxCrossEntropy]

  private static let negativeLogLikelihood = ONNXMapper("NegativeLogLikelihoodLoss") { c in
    [try c.loss(of: try c.input(0))]
  }

  /// Returns the loss, and the logarithms of the softmax.
  private static let softmaxCrossEntropy = ONNXMapper("SoftmaxCrossEntropyLoss") { c in
    let logs = try c.emitter.logSoftmax(try c.input(0), axis: 1, step: "log_prob")
    return [try c.loss(of: logs), logs]
  }
}

extension ONNXOperation {
  /// Returns `-weight[target] · x[target]` for scores `[N, C, …]` and targets `[N, …]`; 0 for the ignored target.
  fileprivate func loss(of x: ValueID) throws -> ValueID {
    let (target, weights) = (try input(1), optional(2))
    let (scores, places) = (emitter.shape(x), emitter.shape(target))
    guard scores.rank >= 2, places.dimensions == [scores[0]] + scores.dimensions.dropFirst(2) else {
      throw emitter.invalid("scores \(emitter.type(x)) do not fit targets \(emitter.type(target))")
    }
    var safe = target
    var ignored: ValueID?
    if let number = node.attributes["ignore_index"]?.integer {
      let scalar = emitter.scalar(target)
      let isIgnored = try emitter.add(
        Compare(.equal), target, emitter.constant(integers: [number], scalar, shape: []), step: "is_ignored")
      ignored = isIgnored
      safe = try emitter.add(
        Select(), isIgnored, emitter.constant(integers: [0], scalar, shape: []), target, step: "counted_target")
    }
    let column = try emitter.reshape(
      safe, Shape([scores[0], 1] + scores.dimensions.dropFirst(2)), step: "target_column")
    let picked = try emitter.add(GatherElements(axis: 1), x, column, step: "picked")
    var loss = try emitter.unary(UnaryFunction(.negate), emitter.reshape(picked, places, step: "picks"), step: "loss")
    var factor = try weights.map { try emitter.add(Gather(axis: 0), $0, safe, step: "weights") }
    if let weight = factor { loss = try emitter.binary(.multiply, loss, weight, step: "weighted_loss") }
    if let ignored {
      let (zero, one) = (
        emitter.constant(0, emitter.scalar(x), step: "zero"), emitter.constant(1, emitter.scalar(x), step: "one")
      )
      loss = try emitter.add(Select(), ignored, zero, loss, step: "counted_loss")
      factor = try emitter.add(Select(), ignored, zero, factor ?? one, step: "counted_weights")
    }
    let axes = Array(0..<places.rank)
    switch text("reduction", default: "mean") {
    case "none": return loss
    case "sum": return try emitter.add(Reduce(.sum, axes: axes, keepsDimensions: false), loss)
    case "mean":
      guard let factor else { return try emitter.add(Reduce(.mean, axes: axes, keepsDimensions: false), loss) }
      let total = try emitter.add(Reduce(.sum, axes: axes, keepsDimensions: false), loss, step: "total")
      let weight = try emitter.add(Reduce(.sum, axes: axes, keepsDimensions: false), factor, step: "total_weight")
      return try emitter.binary(.divide, total, weight)
    case let other: throw emitter.invalid("reduction '\(other)' is not known")
    }
  }
}
