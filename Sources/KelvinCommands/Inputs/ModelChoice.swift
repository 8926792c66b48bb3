import FoundationEssentials
import Kelvin
import KelvinCollections
import KelvinVision

/// The model for a collection of images: the named one, else the index's, else the user's default model.
struct ModelChoice {
  var url: URL
  var labels: [String]?
  var normalization: PixelNormalization?
  var embedding: String?
  var cropAndScale: ImageCropAndScale?

  /// Chooses a model.
  ///
  /// - Throws: `InputError` where there is none; `PhotoIndexError` for an index that cannot be read.
  init(_ named: String?, of index: PhotoIndex) throws {
    if let named {
      url = URL(filePath: named)
    } else if let settings = try Self.settings(of: index) {
      self = ModelChoice(settings)
    } else if let usual = try recognizing({ () throws(VisionError) in try DefaultModel.configured() }) {
      (url, labels, normalization) = (usual.url, usual.labels, usual.normalization)
    } else {
      throw InputError("no model is named: give one with --model, or set a default: kelvin use MODEL")
    }
  }

  /// Returns the settings of the index; nil where the index does not exist.
  private static func settings(of index: PhotoIndex) throws -> PhotoIndex.Settings? {
    do throws(VisionError) { return try index.settings() } catch {
      if case .index(let fault) = error, fault.code == .absent { return nil }
      throw recognized(error)
    }
  }

  /// Chooses the model and settings of an index.
  init(_ settings: PhotoIndex.Settings) {
    url = settings.model
    (labels, normalization) = (settings.labels, settings.normalization)
    (embedding, cropAndScale) = (settings.embedding, settings.cropAndScaleAction)
  }

  func photoModel(
    _ configuration: ModelConfiguration, curves: PrecisionRecallCurves? = nil
  ) throws -> PhotoModel {
    let model = try Model.loadWithProgress(
      try ReadModel(contentsOf: url, allowsLinks: configuration.allowsLinks), configuration)
    return try recognizing { () throws(VisionError) in
      try PhotoModel(
        model: model, labels: labels, normalization: normalization, embedding: embedding,
        cropAndScaleAction: cropAndScale ?? .centerCrop, curves: curves)
    }
  }
}
