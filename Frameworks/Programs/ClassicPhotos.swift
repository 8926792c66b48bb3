// Classifies a photo with Vision's first generation: handlers kept by request, completion handlers, one shared model.
//
// ClassicPhotos MODEL PHOTO
import CoreML
import Foundation
import Vision

final class ImagePredictor {
  struct Prediction {
    let classification: String
    let confidencePercentage: String
  }
  typealias ImagePredictionHandler = (_ predictions: [Prediction]?) -> Void

  static func createImageClassifier() -> VNCoreMLModel {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    guard
      let model = try? MLModel(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]), configuration: configuration)
    else { fatalError("the model cannot be loaded") }
    guard let visionModel = try? VNCoreMLModel(for: model) else { fatalError("the model takes no images") }
    return visionModel
  }

  private let imageClassifier = ImagePredictor.createImageClassifier()
  private var predictionHandlers = [VNRequest: ImagePredictionHandler]()

  private func createImageClassificationRequest() -> VNImageBasedRequest {
    let request = VNCoreMLRequest(model: imageClassifier, completionHandler: visionRequestHandler)
    request.imageCropAndScaleOption = .centerCrop
    return request
  }

  func makePredictions(
    for photo: CGImage, orientation: CGImagePropertyOrientation, completionHandler: @escaping ImagePredictionHandler
  ) throws {
    let request = createImageClassificationRequest()
    predictionHandlers[request] = completionHandler
    let handler = VNImageRequestHandler(cgImage: photo, orientation: orientation)
    let requests: [VNRequest] = [request]
    try handler.perform(requests)
  }

  private func visionRequestHandler(_ request: VNRequest, error: Error?) {
    guard let predictionHandler = predictionHandlers.removeValue(forKey: request) else {
      fatalError("Every request must have a prediction handler.")
    }
    var predictions: [Prediction]?
    defer { predictionHandler(predictions) }
    if let error = error {
      print("Vision image classification error...\n\n\(error.localizedDescription)")
      return
    }
    guard request.results != nil, let observations = request.results as? [VNClassificationObservation] else {
      print("VNRequest produced the wrong result type: \(type(of: request.results)).")
      return
    }
    predictions = observations.map { observation in
      Prediction(
        classification: observation.identifier,
        confidencePercentage: String(format: "%.1f", observation.confidence * 100))
    }
  }
}

@main
struct ClassicPhotos {
  static func main() throws {
    let url = URL(fileURLWithPath: CommandLine.arguments[2])
    guard let source = CGImageSourceCreateWithURL(url as CFURL, nil),
      let photo = CGImageSourceCreateImageAtIndex(source, 0, nil)
    else { fatalError("the photo cannot be read") }
    let predictor = ImagePredictor()
    try predictor.makePredictions(for: photo, orientation: .up) { predictions in
      for prediction in (predictions ?? []).prefix(2) {
        print("\(prediction.classification) - \(prediction.confidencePercentage)%")
      }
    }
    // A handler of the file, on a background queue.
    let group = DispatchGroup()
    group.enter()
    DispatchQueue.global(qos: .userInitiated).async {
      defer { group.leave() }
      let request = VNCoreMLRequest(model: ImagePredictor.createImageClassifier())
      do {
        try VNImageRequestHandler(url: url, options: [:]).perform([request])
        if let best = request.results?.first as? VNClassificationObservation {
          print("url: \(best.identifier) \(best.confidence)")
        }
      } catch { print("failed: \(error.localizedDescription)") }
    }
    group.wait()
    let missing = VNImageRequestHandler(url: URL(fileURLWithPath: "/absent.jpg"))
    do {
      try missing.perform([VNCoreMLRequest(model: ImagePredictor.createImageClassifier())])
    } catch { print("error: \((error as NSError).domain) \((error as NSError).code)") }
  }
}
