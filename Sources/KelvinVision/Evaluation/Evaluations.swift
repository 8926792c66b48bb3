#if Collections
public import Kelvin

/// The jobs that models can be held to.
public enum Evaluations {
  /// All there are. A model is held to the first that it does.
  public static let all: [any Evaluation.Type] = [
    ClassificationEvaluation.self, SegmentationEvaluation.self, DetectionEvaluation.self, RegressionEvaluation.self,
  ]

  /// The job by its name, nil for none such.
  public static func named(_ task: String) -> (any Evaluation.Type)? { all.first { $0.task == task } }

  /// The first job that a model does; detection where the options have a head, which is a detector's.
  ///
  /// - Throws: `VisionError.missingNormalization` where that is all it lacks; `invalidModel` with what each job says against it.
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
    throw .invalidModel("the model does nothing that can be evaluated (\(reasons.joined(separator: "; ")))")
  }
}

extension Evaluation {
  /// - Throws: what making a request throws.
  fileprivate static func check(_ model: Model, _ options: EvaluationOptions) throws(VisionError) {
    _ = try request(for: model, options)
  }
}
#endif
