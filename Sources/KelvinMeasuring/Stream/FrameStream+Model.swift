public import Kelvin
import KelvinEngine
public import KelvinFeatures
public import KelvinImages
import KelvinMeasurements
import KelvinRuntime

extension FrameStream where Output == DictionaryFeatureProvider {
  /// Creates a stream of a model's predictions. A governed stream compiles and times its settings, which takes about as
  /// long as loading the model plus a second.
  ///
  /// - Parameters:
  ///   - model: the model that runs on the frames. Other predictions of the model may run meanwhile.
  ///   - options: the stream's options.
  /// - Throws: `ModelError` with code `parameters` for invalid options or a stateful model; `device` if a device fails;
  ///   `predictionCancelled` if the task was cancelled.
  public convenience init(_ model: Model, options: Options = Options()) async throws(ModelError) {
    let setup = try await BlockingWork.run { (cancellation) throws(ModelError) -> StreamSetup in
      try StreamSetup(model, options, cancellation)
    }
    self.init(model, options, setup)
  }

  convenience init(
    _ model: Model, _ options: Options, _ setup: StreamSetup, clock: any MeasurementClock = SystemClock()
  ) {
    let images = model.modelDescription.inputDescriptionsByName.values.filter { $0.type == .image }
    let input = images.count == 1 ? images[0].name : nil
    let usual: ImageCropAndScale = model.modelDescription.isClassifier ? .centerCrop : .scaleToFill
    self.init(
      setup, options, takesImages: input != nil, clock: clock,
      answer: { content, plan, cancellation in
        switch content {
        case .features(let features): return try setup.predictors[plan].predict(features, [:], cancellation)
        case .image(let image, let orientation, let cropAndScale):
          let value = FeatureValue(image: image, orientation: orientation, cropAndScale: cropAndScale ?? usual)
          let features = DictionaryFeatureProvider(dictionary: [input ?? "": value])
          return try setup.predictors[plan].predict(features, [:], cancellation)
        }
      },
      isFatal: { ($0 as? ModelError)?.fault == .device })
  }

  /// Adds a frame. Never waits, and can be called from any number of tasks at once.
  ///
  /// - Parameters:
  ///   - frame: the inputs of a prediction. Its features are read on another thread when the prediction begins.
  ///   - timestamp: the caller's time of the frame, which its answer holds.
  /// - Returns: false if the stream has ended and the frame was rejected.
  @discardableResult
  public func push(_ frame: any FeatureProvider, timestamp: Duration? = nil) -> Bool {
    push(.features(frame), timestamp: timestamp)
  }

  /// Adds an image, for a model with one image input. The image is copied and scaled only if its prediction begins.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - orientation: the orientation of the stored pixels.
  ///   - cropAndScale: how the image is fitted to the model's input size. Otherwise, a classifier sees the center, as
  ///     `ClassificationRequest` does, and another model sees the whole image, stretched.
  ///   - timestamp: the caller's time of the frame, which its answer holds.
  /// - Returns: as `push(_:)`; also false for a model that does not take exactly one image.
  @discardableResult
  public func push(
    _ image: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale,
    timestamp: Duration? = nil
  ) -> Bool {
    takesImages && push(.image(image, orientation, cropAndScale), timestamp: timestamp)
  }
}

extension FrameStream.Answer where Output == DictionaryFeatureProvider {
  /// Returns the outputs.
  ///
  /// - Throws: the frame's error.
  public func features() throws(ModelError) -> DictionaryFeatureProvider {
    do { return try result.get() } catch { throw ModelError(error) }
  }
}
