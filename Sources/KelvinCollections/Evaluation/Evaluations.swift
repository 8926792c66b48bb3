public import Kelvin
public import KelvinVision

/// The jobs that models can be evaluated at.
public enum Evaluations {
  /// All types of evaluation, in the order in which a model is tried for them.
  public static let all: [any Evaluation.Type] = [
    ClassificationEvaluation.self, SegmentationEvaluation.self, DetectionEvaluation.self, RegressionEvaluation.self,
  ]

  /// Returns the type of evaluation with a job's name; nil for an unknown name.
  public static func named(_ task: String) -> (any Evaluation.Type)? { all.first { $0.task == task } }

  /// Returns the first type of evaluation that a model supports. Options with a detection head select detection.
  ///
  /// - Throws: `VisionError.missingNormalization` where only the normalization is missing; `invalidModel` with every
  ///   job's reason otherwise.
  public static func of(_ model: Model, _ options: EvaluationOptions) throws(VisionError) -> any Evaluation.Type {
    if options.head != nil {
      try DetectionEvaluation.check(model, options)
      return DetectionEvaluation.self
    }
    var reasons: [String] = []
    for job in all {
      do throws(VisionError) {
        try job.check(model, options)
        return job
      } catch {
        if case .invalidModel(let reason) = error { reasons.append("\(job.task): \(reason)") } else { throw error }
      }
    }
    throw .invalidModel("the model has no output that can be evaluated (\(reasons.joined(separator: "; ")))")
  }
}

extension Evaluation {
  /// Checks that a model supports the job.
  ///
  /// - Throws: Errors of creating the request.
  fileprivate static func check(_ model: Model, _ options: EvaluationOptions) throws(VisionError) {
    _ = try request(for: model, options)
  }
}
