// swift-format-ignore-file
// Made by 'kelvin generate' from Digits.mlpackage. Changes are lost when it is made again.
import FoundationEssentials
import Kelvin

/// Reads one handwritten digit from a colour image.
///
/// Author: The Kelvin authors
///
/// License: Apache-2.0
///
/// Version: 1.0
struct Digits: Sendable {
  /// The loaded model.
  let model: Kelvin.Model

  /// Uses a model that is already loaded.
  init(model: Kelvin.Model) { self.model = model }

  /// Loads the model from a file or package. Blocks the calling thread.
  init(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration()
  ) throws(ModelError) {
    self.init(model: try Kelvin.Model(contentsOf: url, configuration: configuration))
  }

  /// Loads the model from a file or package without blocking the calling task's thread.
  static func load(
    contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration()
  ) async throws(ModelError) -> Self {
    Self(model: try await Kelvin.Model.load(contentsOf: url, configuration: configuration))
  }

  /// Makes one prediction. Blocks the calling thread.
  func prediction(
    _ input: Input, options: PredictionOptions = PredictionOptions()
  ) throws(ModelError) -> Output {
    try Output(model.prediction(from: input, options: options))
  }

  /// Makes one prediction without blocking the calling task's thread.
  func prediction(
    _ input: Input, options: PredictionOptions = PredictionOptions()
  ) async throws(ModelError) -> Output {
    try Output(await model.prediction(from: input, options: options))
  }

  /// Makes a prediction for each input, several at a time. Blocks the calling thread.
  func predictions(_ inputs: [Input]) throws(ModelError) -> [Output] {
    try Self.outputs(model.predictions(fromBatch: ArrayBatchProvider(array: inputs)))
  }

  /// Makes a prediction for each input, several at a time, without blocking the calling task's thread.
  func predictions(_ inputs: [Input]) async throws(ModelError) -> [Output] {
    try Self.outputs(await model.predictions(fromBatch: ArrayBatchProvider(array: inputs)))
  }

  private static func outputs(_ batch: ArrayBatchProvider) throws(ModelError) -> [Output] {
    try batch.array.map { (features) throws(ModelError) -> Output in try Output(features) }
  }

  /// The inputs of a prediction.
  struct Input: FeatureProvider {
    /// One digit, any colours; 64 by 64 pixels.
    ///
    /// An image of 64 x 64 pixels, rgb.
    ///
    /// An image of another size is scaled to fill the model's size.
    var image: PixelBuffer {
      get { self.imageValue.imageBufferValue! }
      set { self.imageValue = FeatureValue(image: newValue, cropAndScale: .scaleToFill) }
    }
    private var imageValue: FeatureValue

    /// Sets the image.
    mutating func setImage(
      _ image: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale = .scaleToFill
    ) {
      self.imageValue = FeatureValue(image: image, orientation: orientation, cropAndScale: cropAndScale)
    }

    /// Sets the image from a file.
    mutating func setImage(
      at url: URL, orientation: ImageOrientation? = nil, cropAndScale: ImageCropAndScale = .scaleToFill
    ) throws(ImageError) {
      self.imageValue = try FeatureValue(imageAt: url, orientation: orientation, cropAndScale: cropAndScale)
    }

    /// Creates inputs.
    init(image: PixelBuffer) {
      self.imageValue = FeatureValue(image: image, cropAndScale: .scaleToFill)
    }

    /// Creates inputs with images from files.
    init(imageAt image: URL, cropAndScale: ImageCropAndScale = .scaleToFill) throws(ImageError) {
      self.imageValue = try FeatureValue(imageAt: image, cropAndScale: cropAndScale)
    }

    var featureNames: Set<String> {
      ["image"]
    }

    func featureValue(for featureName: String) -> FeatureValue? {
      switch featureName {
      case "image": self.imageValue
      default: nil
      }
    }
  }

  /// The outputs of a prediction.
  struct Output: Sendable {
    let classLabel: String

    let classLabel_probs: [String: Double]

    /// Creates outputs from the values of a prediction.
    ///
    /// - Throws: `ModelError` with code `featureType` if a value is missing or has another type.
    init(_ features: some FeatureProvider) throws(ModelError) {
      self.classLabel = try Self.present(features.featureValue(for: "classLabel")?.stringValue, "classLabel")
      self.classLabel_probs = try Self.present(features.featureValue(for: "classLabel_probs")?.dictionaryValue, "classLabel_probs").reduce(into: [String: Double]()) { if case .string(let key) = $1.key { $0[key] = $1.value } }
    }

    private static func present<Value>(_ value: Value?, _ name: String) throws(ModelError) -> Value {
      if let value { return value }
      throw ModelError(
        .featureType,
        "output '\(name)' is missing or has another type than in the model that the class was made from; "
          + "load that model, or make the class again with 'kelvin generate'")
    }
  }

  /// The labels of the model.
  enum Label: String, CaseIterable, Sendable {
    case zero = "zero"
    case one = "one"
    case two = "two"
    case three = "three"
    case four = "four"
    case five = "five"
    case six = "six"
    case seven = "seven"
    case eight = "eight"
    case nine = "nine"
  }
}
