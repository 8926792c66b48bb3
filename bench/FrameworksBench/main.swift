import CoreML
import CoreVideo
import Foundation
import Kelvin
import KelvinVision
import Vision

/// Times predictions through the modules with Apple's names and through Kelvin's own, for
/// `bench/frameworks_overhead.py`:
///
///     FrameworksBench ARRAYMODEL IMAGEMODEL ITERATIONS
///
/// Prints `NAME KELVIN APPLE` for each iteration of each comparison: the seconds of the two ways. The last line names
/// the kernels of the CPU. Both ways use the same loaded model, one thread, and the same pixels. The order of all ways
/// is drawn anew for each iteration, so that each call follows each other one equally often.
struct Comparison {
  let name: String
  let kelvin: () throws -> Void
  let apple: () throws -> Void
}

func loaded(_ path: String) throws -> Model {
  var configuration = ModelConfiguration(computeUnits: .cpuOnly)
  configuration.threadCount = 1
  return try Model(contentsOf: URL(fileURLWithPath: path), configuration: configuration)
}

/// A prediction with features that are made once, and one that makes them and reads the result.
func arrays(_ path: String) throws -> [Comparison] {
  let model = try loaded(path)
  let same = MLModel(model)
  guard let (input, description) = model.modelDescription.inputDescriptionsByName.first,
    let output = model.modelDescription.outputDescriptionsByName.keys.first,
    let shape = description.multiArrayConstraint?.shape
  else { throw CocoaError(.fileReadCorruptFile) }
  let numbers = shape.map { NSNumber(value: $0) }
  let count = shape.reduce(1, *)
  func kelvinInput() throws -> DictionaryFeatureProvider {
    let array = try MultiArray(shape: shape, dataType: .float32)
    if let memory = array.dataPointer?.assumingMemoryBound(to: Float.self) {
      for index in 0..<count { memory[index] = Float(index) }
    }
    return DictionaryFeatureProvider(dictionary: [input: FeatureValue(multiArray: array)])
  }
  func appleInput() throws -> MLDictionaryFeatureProvider {
    let array = try MLMultiArray(shape: numbers, dataType: .float32)
    let memory = array.dataPointer.assumingMemoryBound(to: Float.self)
    for index in 0..<count { memory[index] = Float(index) }
    return try MLDictionaryFeatureProvider(dictionary: [input: MLFeatureValue(multiArray: array)])
  }
  let (given, sameGiven) = (try kelvinInput(), try appleInput())
  return [
    Comparison(
      name: "prediction", kelvin: { _ = try model.prediction(from: given) },
      apple: { _ = try same.prediction(from: sameGiven) }),
    Comparison(
      name: "features",
      kelvin: {
        let found = try model.prediction(from: try kelvinInput())
        _ = found.featureValue(for: output)?.multiArrayValue?[0]
      },
      apple: {
        let found = try same.prediction(from: try appleInput())
        _ = found.featureValue(for: output)?.multiArrayValue?[0].floatValue
      }),
  ]
}

/// A new handler's request on a buffer of the model's size, and the class with the largest probability.
func images(_ path: String) throws -> [Comparison] {
  let model = try loaded(path)
  guard let size = model.modelDescription.inputDescriptionsByName.values.first?.imageConstraint else {
    throw CocoaError(.fileReadCorruptFile)
  }
  var made: CVPixelBuffer?
  CVPixelBufferCreate(nil, size.pixelsWide, size.pixelsHigh, kCVPixelFormatType_32BGRA, nil, &made)
  guard let buffer = made else { throw CocoaError(.featureUnsupported) }
  let pixels = buffer.kelvin
  var request = KelvinVision.CoreMLRequest(model: try KelvinVision.CoreMLModelContainer(model: model))
  request.cropAndScaleAction = .centerCrop  // Vision's default
  let classic = VNCoreMLRequest(model: try VNCoreMLModel(for: MLModel(model)))
  return [
    Comparison(
      name: "request",
      kelvin: { [request] in
        let found = try KelvinVision.ImageRequestHandler(pixels).perform(request)
        _ = (found.first as? KelvinVision.ClassificationObservation)?.identifier
      },
      apple: {
        try VNImageRequestHandler(cvPixelBuffer: buffer, options: [:]).perform([classic])
        _ = (classic.results?.first as? VNClassificationObservation)?.identifier
      })
  ]
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let iterations = Int(arguments[3]), iterations > 0 else {
  print("usage: FrameworksBench ARRAYMODEL IMAGEMODEL ITERATIONS")
  exit(64)
}
let comparisons = try arrays(arguments[1]) + images(arguments[2])
let clock = ContinuousClock()
var ways = comparisons.indices.flatMap { [($0, false), ($0, true)] }
for iteration in -100..<iterations {
  var times = [[Double]](repeating: [0, 0], count: comparisons.count)
  ways.shuffle()
  for (index, isApple) in ways {
    let body = isApple ? comparisons[index].apple : comparisons[index].kelvin
    times[index][isApple ? 1 : 0] = try clock.measure(body) / .seconds(1)
  }
  guard iteration >= 0 else { continue }
  for (comparison, pair) in zip(comparisons, times) { print(comparison.name, pair[0], pair[1]) }
}
print(ComputeDevice.allComputeDevices.first { $0.identifier == "cpu" }?.driver ?? "unknown")
