import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// A model on some units with some precision, as an evaluation compares them.
struct EvaluationContestant {
  let contender: ClassificationEvaluation.Contender
  var remarks: [String] { contender.request.remarks + contender.request.model.remarks }

  /// Predictions that are timed, behind those that warm up.
  private static let (timed, untimed) = (15, 3)

  /// Every combination that was asked for, models first; names tell them apart.
  static func all(
    _ models: [String], units: [ComputeUnits], precisions: [ComputePrecision], labels: [String]?,
    normalization: PixelNormalization?, cropAndScale: ImageCropAndScale?, _ options: ModelOptions
  ) throws -> [EvaluationContestant] {
    let (unitsList, precisionList) = (
      units.isEmpty ? [.all] : units, precisions.isEmpty ? [options.precision] : precisions
    )
    let namesModel = models.count > 1 || unitsList.count * precisionList.count == 1
    var contestants: [EvaluationContestant] = []
    for path in models {
      for units in unitsList {
        for precision in precisionList {
          let name = [
            namesModel ? path.lastPathPart : nil, unitsList.count > 1 ? units.description : nil,
            precisionList.count > 1 ? precision.rawValue : nil,
          ].compactMap { $0 }.joined(separator: ", ")
          var configuration = try options.configuration(units: units)
          configuration.precision = precision
          let read = try ReadModel(contentsOf: URL(filePath: path), allowsLinks: configuration.allowsLinks)
          let model = try Model.loadWithProgress(read, configuration)
          var request = try recognizing { () throws(VisionError) in
            try ClassificationRequest(model: model, labels: labels, normalization: normalization)
          }
          request.cropAndScaleAction = cropAndScale ?? request.cropAndScaleAction
          contestants.append(
            EvaluationContestant(contender: ClassificationEvaluation.Contender(name: name, request: request)))
        }
      }
    }
    return contestants
  }

  /// What the model takes, nothing else being done meanwhile.
  func cost(on picture: String) throws -> ClassificationEvaluation.Cost {
    let decoded = try ImageFile.decode(path: picture)
    let clock = ContinuousClock()
    var seconds: [Double] = []
    for index in 0..<Self.untimed + Self.timed {
      let duration = try clock.measure {
        _ = try recognizing { () throws(VisionError) in
          try contender.request.classify(decoded.pixels, orientation: decoded.orientation)
        }
      }
      if index >= Self.untimed { seconds.append(duration.inSeconds) }
    }
    let model = contender.request.model
    return ClassificationEvaluation.Cost(bytes: model.fileByteCount, seconds: seconds.sorted()[seconds.count / 2])
  }
}
