import Dispatch
import FoundationEssentials
import Kelvin
import KelvinCollections
import KelvinCompression
import KelvinVision

/// The images that measure the copies of a segmenter, a detector, or a model whose outputs are scores of classes, and the
/// measure: that of `kelvin evaluate` for labelled images, else the same with the original's answers in place of labels.
struct CompressionTask {
  let paths: [String]
  let measure: CompressionMeasure
  /// How an image is fitted to the model's input.
  let cropAndScale: ImageCropAndScale

  /// Returns nil for models that do neither.
  ///
  /// - Parameters:
  ///   - model: The model with its own weights.
  ///   - path: A data set as `evaluate` takes it for the model's task, or any images.
  ///   - unlabelled: Returns the paths of the images if the data set has no labels.
  init?(
    of model: Model, _ path: String, _ options: EvaluationOptions, unlabelled: () throws -> [String]
  ) throws {
    let job = try? Evaluations.of(model, options)
    if job is SegmentationEvaluation.Type {
      let request = try recognizing { () throws(VisionError) in
        try SegmentationEvaluation.request(for: model, options)
      }
      try self.init(SegmentationEvaluation.self, path, options, request.cropAndScaleAction, unlabelled) {
        SegmentedImages(answersOf: request, paths: $0)
      }
    } else if job is DetectionEvaluation.Type {
      var request = try recognizing { () throws(VisionError) in try DetectionEvaluation.request(for: model, options) }
      let cropAndScale = request.cropAndScaleAction
      // The objects that the model's users see.
      request.minimumConfidence = nil
      try self.init(DetectionEvaluation.self, path, options, cropAndScale, unlabelled) { (paths) throws(VisionError) in
        try DetectedImages(answersOf: request, paths: paths)
      }
    } else if job is ClassificationEvaluation.Type, options.labels != nil,
      let images = try? LabelledImages(contentsOf: URL(filePath: path))
    {
      let request = try recognizing { () throws(VisionError) in
        try ClassificationEvaluation.request(for: model, options)
      }
      try self.init(ClassificationEvaluation.self, path, options, request.cropAndScaleAction, unlabelled) {
        _ in images
      }
    } else {
      return nil
    }
  }

  private init<Job: Evaluation>(
    _ job: Job.Type, _ path: String, _ options: EvaluationOptions, _ cropAndScale: ImageCropAndScale,
    _ unlabelled: () throws -> [String], answers: ([String]) throws(VisionError) -> Job.Dataset
  ) throws {
    let dataset: Job.Dataset
    let isLabelled: Bool
    do throws(VisionError) {
      dataset = try Job.Dataset(contentsOf: URL(filePath: path))
      isLabelled = true
    } catch {
      let paths = try unlabelled()
      guard paths.contains(where: { $0 != path }) else { throw InputError("\(error)") }
      Console.note("'\(path)' has no labels for \(job.task); the answers are compared with the original's")
      dataset = try evaluating { () throws(VisionError) in try answers(paths) }
      isLabelled = false
    }
    dataset.remarks.forEach(Console.note)
    paths = dataset.examples.map(\.name)
    self.cropAndScale = cropAndScale
    measure = CompressionMeasure(name: Job.measures[0].name, isAgreement: !isLabelled) {
      (original, copy) async throws(ModelError) in
      let result = await withCheckedContinuation { continuation in
        // The evaluation blocks its thread.
        DispatchQueue.global().async {
          continuation.resume(
            returning: Result { () throws(VisionError) in
              try Self.compare(job, original, copy, dataset, options)
            })
        }
      }
      switch result {
      case .success(let comparison): return comparison
      case .failure(.prediction(let error)): throw error
      case .failure(let error): throw ModelError(.io, "\(error)")
      }
    }
  }

  private static func compare<Job: Evaluation>(
    _ job: Job.Type, _ original: Model, _ copy: Model, _ dataset: Job.Dataset, _ options: EvaluationOptions
  ) throws(VisionError) -> CompressionMeasure.Comparison {
    var contenders = [EvaluationContender(name: "original", request: try job.request(for: original, options))]
    if copy !== original {
      contenders.append(EvaluationContender(name: "copy", request: try job.request(for: copy, options)))
    }
    let evaluation = try Job(of: contenders, on: dataset) { _ in }
    let last = contenders.count - 1
    return CompressionMeasure.Comparison(
      copy: evaluation.quality(of: last) ?? 0, original: evaluation.quality(of: 0) ?? 0,
      difference: last == 0 ? 0...0 : evaluation.comparison(of: last, with: 0).interval,
      count: evaluation.examples.count)
  }
}
