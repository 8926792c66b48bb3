// The symbols of Core ML and Vision that programs use most, each once. The test compiles this file and does not run it.
import Accelerate
import CoreGraphics
import CoreImage
import CoreML
import CoreVideo
import Foundation
import ImageIO
import Vision

// 1. Arrays.
func arrays() throws {
  let array = try MLMultiArray(shape: [1, 2, 3], dataType: .float32)
  let other = try MLMultiArray(shape: [NSNumber(value: 4)], dataType: MLMultiArrayDataType.double)
  _ = try MLMultiArray(shape: [2, 2], dataType: .float16, strides: [2, 1])
  let memory = UnsafeMutablePointer<Float>.allocate(capacity: 6)
  _ = try MLMultiArray(
    dataPointer: memory, shape: [2, 3], dataType: .float32, strides: [3, 1], deallocator: { $0.deallocate() })
  _ = try MLMultiArray([1.5, 2.5] as [Double])
  _ = try MLMultiArray([1, 2] as [Float])
  _ = try MLMultiArray([1, 2] as [Int32])
  _ = MLMultiArray(concatenating: [array, array], axis: 0, dataType: .float32)
  array[[0, 1, 2] as [NSNumber]] = 0.5
  array[0] = NSNumber(value: 3)
  array[[0, 0, 1]] = 1
  let value: Float = array[1].floatValue + array[[0, 0, 2] as [NSNumber]].floatValue
  let pointer = array.dataPointer.bindMemory(to: Float.self, capacity: array.count)
  let assumed = UnsafeMutablePointer<Double>(OpaquePointer(other.dataPointer))
  let sizes: [Int] = array.shape.map { $0.intValue } + array.strides.map(\.intValue)
  let rows = array.shape[0].intValue * Int(truncating: array.shape[1])
  array.withUnsafeBufferPointer(ofType: Float.self) { buffer in _ = buffer[0] }
  array.withUnsafeMutableBufferPointer(ofType: Float.self) { buffer, strides in buffer[strides[0]] = 0 }
  array.withUnsafeBytes { _ = $0.count }
  array.withUnsafeMutableBytes { bytes, strides in _ = (bytes.count, strides.count) }
  array.transfer(to: array)
  print(array, array.dataType == .float32, array.dataType.rawValue, value, pointer[0], assumed[0], sizes, rows)
}

// 2. Models and their configuration.
func models(_ url: URL) async throws {
  let configuration = MLModelConfiguration()
  configuration.computeUnits = .all
  configuration.computeUnits = MLComputeUnits(rawValue: 2) ?? .cpuAndGPU
  configuration.allowLowPrecisionAccumulationOnGPU = true
  configuration.modelDisplayName = "name"
  configuration.functionName = "main"
  configuration.optimizationHints.reshapeFrequency = .infrequent
  configuration.optimizationHints.specializationStrategy = .fastPrediction
  let copy = configuration.copy() as! MLModelConfiguration
  let model = try await MLModel.load(contentsOf: url, configuration: copy)
  let options = MLPredictionOptions()
  options.usesCPUOnly = true
  options.outputBackings = ["y": try MLMultiArray(shape: [1], dataType: .float32)]
  let input = try MLDictionaryFeatureProvider(dictionary: ["x": 1.5])
  _ = try await model.prediction(from: input)
  _ = try await model.prediction(from: input, options: options)
  MLModel.load(contentsOf: url, configuration: configuration) { result in
    switch result {
    case .success(let model): print(model.modelDescription)
    case .failure(let error): print(error.localizedDescription)
    }
  }
  print(model.configuration, MLModel.availableComputeDevices)
}

func blockingModels(_ url: URL) throws {
  let model = try MLModel(contentsOf: url)
  let configured = try MLModel(contentsOf: url, configuration: MLModelConfiguration())
  let input = try MLDictionaryFeatureProvider(dictionary: ["x": MLFeatureValue(double: 1)])
  let output: MLFeatureProvider = try model.prediction(from: input)
  _ = try configured.prediction(from: input, options: MLPredictionOptions())
  let batch = MLArrayBatchProvider(array: [input, input])
  let results = try model.predictions(fromBatch: batch)
  _ = try model.predictions(from: batch, options: MLPredictionOptions())
  for index in 0..<results.count { print(results.features(at: index).featureNames) }
  print(output.featureNames)
}

// 3. Features.
final class ModelInput: MLFeatureProvider {
  var tokens: MLMultiArray
  var featureNames: Set<String> { ["tokens"] }
  init(tokens: MLMultiArray) { self.tokens = tokens }
  func featureValue(for featureName: String) -> MLFeatureValue? {
    if featureName == "tokens" { return MLFeatureValue(multiArray: tokens) }
    return nil
  }
}

func features(_ buffer: CVPixelBuffer, _ image: CGImage, _ constraint: MLImageConstraint) throws {
  let array = try MLMultiArray(shape: [1], dataType: .int32)
  let values: [String: Any] = [
    "a": MLFeatureValue(multiArray: array), "b": array, "c": 3, "d": 1.5, "e": "text", "f": buffer,
    "g": ["x": 1.0, "y": 2.0] as [String: Double], "h": Float(2),
  ]
  let provider = try MLDictionaryFeatureProvider(dictionary: values)
  let number = provider["c"]!.int64Value + Int64(provider.featureValue(for: "d")!.doubleValue)
  let text: String = provider["e"]!.stringValue
  let shares: [AnyHashable: NSNumber] = provider["g"]!.dictionaryValue
  let named = shares as? [String: Double]
  let same: MLMultiArray? = provider["b"]?.multiArrayValue
  let pixels: CVPixelBuffer? = provider["f"]?.imageBufferValue
  let shaped: MLShapedArray<Int32>? = provider["b"]?.shapedArrayValue(of: Int32.self)
  let sequence = MLFeatureValue(sequence: MLSequence(strings: ["a"])).sequenceValue?.stringValues
  let undefined = MLFeatureValue(undefined: .double).isUndefined
  _ = MLFeatureValue(shapedArray: MLShapedArray<Float>(scalars: [1], shape: [1]))
  _ = try MLFeatureValue(dictionary: ["x": 1, "y": 2])
  _ = try MLFeatureValue(
    cgImage: image, pixelsWide: 224, pixelsHigh: 224, pixelFormatType: kCVPixelFormatType_32BGRA,
    options: [.cropAndScale: VNImageCropAndScaleOption.scaleFill.rawValue])
  _ = try MLFeatureValue(cgImage: image, constraint: constraint, options: nil)
  _ = try MLFeatureValue(
    imageAt: URL(fileURLWithPath: "photo.jpg"), orientation: .right, constraint: constraint,
    options: [MLFeatureValue.ImageOption.cropRect: CGRect(x: 0, y: 0, width: 1, height: 1)])
  print(number, text, named ?? [:], same!, pixels!, shaped!, sequence!, undefined, provider["a"]!.type == .multiArray)
}

// 4. Shaped arrays.
func shapedArrays(_ array: MLMultiArray) {
  var matrix = MLShapedArray<Float>(scalars: [1, 2, 3, 4], shape: [2, 2])
  matrix[scalarAt: 0, 1] = 5
  let filled = MLShapedArray<Float>(repeating: 0, shape: [2, 2])
  let made = MLShapedArray<Int32>(unsafeUninitializedShape: [2, 3]) { buffer, strides in
    for row in 0..<2 { for column in 0..<3 { buffer[row * strides[0] + column * strides[1]] = Int32(column) } }
  }
  let data = MLShapedArray<Float>(data: Data(count: 16), shape: [2, 2])
  let converted = MLShapedArray<Double>(converting: array)
  let again = MLShapedArray<Float>(converting: converted)
  let row: MLShapedArraySlice<Float> = matrix[0]
  let part = matrix[0..<2, 1..<2]
  let first = matrix[0..<1]
  let joined = MLShapedArray(concatenating: [matrix, filled], alongAxis: 0)
  matrix.withUnsafeMutableShapedBufferPointer { buffer, shape, strides in buffer[strides[0] * (shape[0] - 1)] = 1 }
  matrix.withUnsafeShapedBufferPointer { buffer, _, _ in _ = buffer[0] }
  let multi = MLMultiArray(matrix)
  func sum<S: MLShapedArrayProtocol>(_ values: S) -> Float where S.Scalar == Float { values.scalars.reduce(0, +) }
  print(
    sum(matrix), sum(row), made.shape, data.strides, again.scalarCount, part.shape, first.shape, joined.scalars, multi)
  print(matrix.reshaped(to: [4]), matrix.transposed(), MLShapedArray<Float>(array).isScalar)
}

// 6. Pixels.
func pixels(_ image: CGImage) -> CVPixelBuffer? {
  var buffer: CVPixelBuffer?
  let attributes =
    [
      kCVPixelBufferCGImageCompatibilityKey: kCFBooleanTrue!,
      kCVPixelBufferCGBitmapContextCompatibilityKey: kCFBooleanTrue!,
    ] as CFDictionary
  let status = CVPixelBufferCreate(
    kCFAllocatorDefault, image.width, image.height, kCVPixelFormatType_32ARGB, attributes, &buffer)
  guard status == kCVReturnSuccess, let pixelBuffer = buffer else { return nil }
  CVPixelBufferLockBaseAddress(pixelBuffer, CVPixelBufferLockFlags(rawValue: 0))
  defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, .readOnly) }
  let context = CGContext(
    data: CVPixelBufferGetBaseAddress(pixelBuffer), width: CVPixelBufferGetWidth(pixelBuffer),
    height: CVPixelBufferGetHeight(pixelBuffer), bitsPerComponent: 8,
    bytesPerRow: CVPixelBufferGetBytesPerRow(pixelBuffer), space: CGColorSpaceCreateDeviceRGB(),
    bitmapInfo: CGImageAlphaInfo.noneSkipFirst.rawValue)
  context?.translateBy(x: 0, y: CGFloat(image.height))
  context?.scaleBy(x: 1.0, y: -1.0)
  context?.interpolationQuality = .high
  context?.draw(image, in: CGRect(x: 0, y: 0, width: image.width, height: image.height))
  let scaled = CIImage(cvPixelBuffer: pixelBuffer).transformed(by: CGAffineTransform(scaleX: 0.5, y: 0.5))
  CIContext().render(scaled, to: pixelBuffer)
  CIContext(options: nil).render(
    scaled.cropped(to: scaled.extent), to: pixelBuffer, bounds: scaled.extent, colorSpace: CGColorSpaceCreateDeviceRGB()
  )
  _ = CIContext().createCGImage(CIImage(cgImage: image).oriented(.right), from: scaled.extent)
  if CVPixelBufferIsPlanar(pixelBuffer) { print(CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, 0) as Any) }
  let orientation = CGImagePropertyOrientation(rawValue: UInt32(6)) ?? .up
  var bytes = [UInt8](repeating: 0, count: 16)
  let map = vImage_Buffer(data: &bytes, height: 2, width: 2, rowBytes: 8)
  _ = CGDataProvider(data: Data(bytes) as CFData).flatMap {
    CGImage(
      width: 2, height: 2, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: 8, space: CGColorSpaceCreateDeviceRGB(),
      bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipLast.rawValue), provider: $0, decode: nil,
      shouldInterpolate: false, intent: .defaultIntent)
  }
  print(
    CVPixelBufferGetPixelFormatType(pixelBuffer) == kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, orientation, map)
  return pixelBuffer
}

// 7. States.
func states(_ model: MLModel, _ input: any MLFeatureProvider) async throws {
  let state: MLState = model.makeState()
  _ = try await model.prediction(from: input, using: state)
  _ = try await model.prediction(from: input, using: state, options: MLPredictionOptions())
  state.withMultiArray(for: "cache") { array in array[0] = 0 }
  for (name, description) in model.modelDescription.stateDescriptionsByName {
    print(name, description.stateConstraint!.bufferShape, description.stateConstraint!.dataType)
  }
}

// 8. Vision's first generation.
func classicVision(_ model: MLModel, _ buffer: CVPixelBuffer, _ image: CGImage) throws {
  let visionModel = try VNCoreMLModel(for: model)
  visionModel.inputImageFeatureName = "image"
  visionModel.featureProvider = try MLDictionaryFeatureProvider(dictionary: ["threshold": 0.5])
  let request = VNCoreMLRequest(model: visionModel) { request, error in
    if let objects = request.results as? [VNRecognizedObjectObservation] {
      for object in objects {
        let box = VNImageRectForNormalizedRect(object.boundingBox, 640, 480)
        print(object.labels[0].identifier, object.confidence, box.midX, object.uuid)
      }
    } else if let classes = request.results as? [VNClassificationObservation] {
      print(classes.prefix(3).map { ($0.confidence, $0.identifier) }, error?.localizedDescription ?? "")
    } else if let values = request.results as? [VNCoreMLFeatureValueObservation] {
      print(values.first?.featureValue.multiArrayValue as Any, values.first?.featureName as Any)
    } else if let images = request.results as? [VNPixelBufferObservation] {
      print(images.first?.pixelBuffer as Any)
    }
  }
  request.imageCropAndScaleOption = VNImageCropAndScaleOption.scaleFit
  request.regionOfInterest = CGRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
  request.preferBackgroundProcessing = true
  request.usesCPUOnly = true
  request.cancel()
  let handlers: [VNRequest: Int] = [request: 1]
  try VNImageRequestHandler(cvPixelBuffer: buffer, orientation: .up, options: [:]).perform([request])
  try VNImageRequestHandler(cgImage: image, options: [VNImageOption.properties: [:] as [String: Any]]).perform([request]
  )
  try VNImageRequestHandler(ciImage: CIImage(cgImage: image)).perform([request])
  try VNImageRequestHandler(data: Data(), orientation: .left).perform([request])
  try VNSequenceRequestHandler().perform([request], on: buffer, orientation: .up)
  print(handlers.count, try request.supportedComputeStageDevices[.main] as Any)
}

// 9. Descriptions.
func descriptions(_ model: MLModel) {
  let description: MLModelDescription = model.modelDescription
  for (name, feature) in description.inputDescriptionsByName {
    print(name, feature.name, feature.isOptional, feature.type == .image, feature.type.rawValue)
    if let constraint = feature.multiArrayConstraint {
      let shape: [NSNumber] = constraint.shape
      print(shape[0].intValue, constraint.dataType, constraint.shapeConstraint.type == .range)
      print(constraint.shapeConstraint.sizeRangeForDimension.map { $0.rangeValue.length })
      print(constraint.shapeConstraint.enumeratedShapes.map { $0.map(\.intValue) })
    }
    if let constraint = feature.imageConstraint {
      print(constraint.pixelsWide, constraint.pixelsHigh, constraint.pixelFormatType)
      print(constraint.sizeConstraint.type, constraint.sizeConstraint.pixelsWideRange.location)
      print(constraint.sizeConstraint.enumeratedImageSizes.map(\.pixelsWide))
    }
    print(feature.dictionaryConstraint?.keyType as Any, feature.sequenceConstraint?.valueType as Any)
    print(feature.isAllowedValue(MLFeatureValue(double: 1)))
  }
  print(description.outputDescriptionsByName.keys, description.predictedFeatureName ?? "")
  print(description.predictedProbabilitiesName ?? "", description.classLabels as? [String] ?? [])
  print(description.metadata[MLModelMetadataKey.author] as? String ?? "", description.isUpdatable)
  print(description.metadata[.creatorDefinedKey] as? [String: String] ?? [:])
}

// 10 to 12. Compilation, plans, structures, assets, batches.
func plans(_ url: URL) async throws {
  let compiled = try await MLModel.compileModel(at: url)
  MLModel.compileModel(at: url) { result in print(try! result.get()) }
  let asset = try MLModelAsset(specification: Data(contentsOf: url))
  let other = try MLModelAsset(url: compiled)
  print(try await asset.functionNames, try await other.modelDescription, try await other.modelDescription(of: "main"))
  _ = try await MLModel.load(asset: asset, configuration: MLModelConfiguration())
  let plan = try await MLComputePlan.load(asset: other, configuration: MLModelConfiguration())
  if case .program(let program) = plan.modelStructure, let main = program.functions["main"] {
    for operation in main.block.operations {
      let usage: MLComputePlan.DeviceUsage? = plan.deviceUsage(for: operation)
      let cost: MLComputePlan.Cost? = plan.estimatedCost(of: operation)
      print(operation.operatorName, operation.outputs.map(\.name), operation.blocks.count)
      print(usage?.preferred as Any, usage?.supported ?? [], cost?.weight ?? 0)
    }
  }
  let structure = try await MLModelStructure.load(contentsOf: url)
  if case .neuralNetwork(let network) = structure { print(network.layers.map { ($0.name, $0.type, $0.inputNames) }) }
  if case .pipeline(let pipeline) = structure { print(pipeline.subModelNames, pipeline.subModels.count) }
  switch MLComputeDevice.allComputeDevices.first {
  case .cpu(let device)?: print(device)
  case .gpu(let device)?: print(device)
  case .neuralEngine(let device)?: print(device.totalCoreCount)
  default: break
  }
  _ = try MLArrayBatchProvider(dictionary: ["x": [1.0, 2.0]]).array
  MLModelCollection.beginAccessing(identifier: "collection") { result in print((try? result.get())?.entries.count ?? 0)
  }
}

// 13. Vision's second generation.
func modernVision(_ model: MLModel, _ buffer: CVPixelBuffer, _ image: CGImage, _ url: URL) async throws {
  var request = CoreMLRequest(model: try CoreMLModelContainer(model: model, featureProvider: nil))
  request.cropAndScaleAction = .scaleToFit
  request.regionOfInterest = NormalizedRect(x: 0, y: 0, width: 0.5, height: 0.5)
  let observations: [any VisionObservation] = try await request.perform(on: url)
  for case let value as CoreMLFeatureValueObservation in observations {
    print(value.featureName, value.featureValue.shapedArrayValue(of: Float.self) as Any)
  }
  for case let object as RecognizedObjectObservation in observations {
    print(object.labels.first?.identifier ?? "", object.boundingBox.toImageCoordinates(CGSize(width: 1, height: 1)))
  }
  let handler = ImageRequestHandler(image, orientation: .right)
  var classification = ClassifyImageRequest()
  classification.cropAndScaleAction = .centerCrop
  let classes: [ClassificationObservation] = try await handler.perform(classification)
  print(classes.filter { $0.hasMinimumRecall(0.01, forPrecision: 0.9) }.map { ($0.identifier, $0.confidence, $0.uuid) })
  _ = try await ImageRequestHandler(buffer).perform(request)
  _ = try await request.perform(on: buffer, orientation: .left)
  for await result in ImageRequestHandler(url).performAll([request, classification]) {
    if case .coreML(let request, let found) = result { print(request.regionOfInterest, found.count) }
  }
}

// Names of the packages that dev/check-packages.sh fetches.
extension MLBatchProvider {
  var arrayOfFeatures: [any MLFeatureProvider] { (0..<count).map { features(at: $0) } }
}

func kind(_ type: MLFeatureType, _ format: OSType, _ units: MLComputeUnits) -> String {
  switch type {
  case .invalid, .int64, .double, .string, .image, .multiArray, .dictionary, .sequence, .state: break
  @unknown default: return "unknown"
  }
  switch units {
  case .cpuOnly, .cpuAndGPU, .cpuAndNeuralEngine, .all: break
  @unknown default: return "unknown"
  }
  switch format {
  case kCVPixelFormatType_32BGRA, kCVPixelFormatType_32RGBA, kCVPixelFormatType_32ARGB: return "color"
  case kCVPixelFormatType_OneComponent8, kCVPixelFormatType_OneComponent16Half: return "gray"
  default: return "unknown"
  }
}

func packages(_ model: MLModel, _ image: CGImage, _ start: CFAbsoluteTime) throws {
  let description: MLFeatureDescription = model.modelDescription.inputDescriptionsByName["sample"]!
  let constraint: MLMultiArrayConstraint = description.multiArrayConstraint!
  let metadata = model.modelDescription.metadata
  print(metadata[.license] as? String ?? "", metadata[.versionString] as? String ?? "", constraint.shape, start)
  let info = CGBitmapInfo.byteOrder32Big.rawValue | CGImageAlphaInfo.premultipliedLast.rawValue
  let context = CGContext(
    data: nil, width: 8, height: 8, bitsPerComponent: 8, bytesPerRow: 32, space: CGColorSpaceCreateDeviceRGB(),
    bitmapInfo: info)
  context?.draw(image, in: CGRect(x: 0, y: 0, width: 8, height: 8))
  print(context?.makeImage() as Any, CGColorSpace(name: CGColorSpace.sRGB) as Any)
  let (shares, ones): ([Float], [Float]) = ([0.5, 0.25], [1, 1])
  let differences = vDSP.multiply(subtraction: (ones, shares), subtraction: (vDSP.divide(1, shares), ones))
  print(vForce.sqrt(vDSP.subtract(ones, shares)), vDSP.divide(1, vForce.sqrt(vDSP.add(1, vDSP.square(differences)))))
  var sums: [Float] = [0, 0, 0, 0]
  vDSP_vadd(shares, 1, ones, 1, &sums, 1, 2)
  vDSP_mmul(shares, 1, ones, 1, &sums, 1, vDSP_Length(2), vDSP_Length(2), vDSP_Length(1))
  cblas_saxpy(Int32(2), 0.5, shares, 1, &sums, 1)
}

// 14. Tensors.
func tensors(_ model: MLModel, _ logits: MLMultiArray, _ tokens: [Int32], _ temperature: Float) async throws {
  var scores = MLTensor(MLShapedArray<Float>(logits)).cast(to: Float.self) / temperature
  let ids = MLTensor(shape: [1, tokens.count], scalars: tokens)
  let inputs = ["ids": MLTensor(concatenating: [ids, MLTensor(repeating: Int32(0), shape: [1, 4])], alongAxis: -1)]
  let outputs = try await model.prediction(from: inputs)
  _ = try await model.prediction(from: inputs, using: model.makeState())["logits"]!
  scores = outputs["logits"]![nil, 0, nil].expandingShape(at: 0)
  let (values, indices) = scores.softmax(alongAxis: -1).topK(5)
  let random = values.sum() * Float.random(in: 0..<1)
  var sums = values.cumulativeSum(alongAxis: -1)
  sums += (sums .< random) * 100.0
  let next = indices.gathering(atIndices: sums.argsort()[..., 0], alongAxis: indices.rank - 1)
  let places = MLTensor(rangeFrom: Int32(0), to: 8, by: 1, scalarType: Int32.self).reshaped(to: [1, -1])
  let mask = (places.tiled(multiples: [1, 1]).cast(to: Float.self) .>= Float(2)) .& (scores[..., 0..<8] .> 0.5)
  let filtered = scores[0..., 0..., ..<8].replacing(
    with: MLTensor(repeating: -.infinity, shape: [1, 1, 8]), where: mask)
  let chosen = withMLTensorComputePolicy(.cpuAndGPU) {
    pointwiseMax(filtered.squared().mean(), MLTensor(Float(1e-9))).rsqrt()
  }
  let original: any MLTensorScalar.Type = scores.scalarType
  await withMLTensorComputePolicy(MLComputePolicy(.cpuOnly)) {
    print(await next.shapedArray(of: Int32.self).scalars, await chosen.shapedArray(of: Float.self).scalars)
  }
  print(
    scores.cast(to: original).shape, original == Float.self, scores.transposed(permutation: 0, 2, 1).split(count: 2))
  print(
    -1e9 * (1 - scores.matmul(scores.transposed())), MLTensor(stacking: [scores, scores]), scores[.newAxis, ...].rank)
}

// Other names in the same files.
func others(_ error: Error) {
  let start = CFAbsoluteTimeGetCurrent()
  autoreleasepool { print("pool") }
  var values: [Float] = [1, 2, 3]
  var (largest, index) = (Float(), vDSP_Length())
  vDSP_maxvi(&values, 1, &largest, &index, vDSP_Length(values.count))
  vDSP_vsmul(values, 1, [2], &values, 1, 3)
  print(vDSP.sum(values), vDSP.multiply(2, values), vForce.exp(values), CFAbsoluteTimeGetCurrent() - start)
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, 1, 1, 3, 1, values, 3, values, 3, 0, &largest, 1)
  do { throw error } catch MLModelError.io { print("io") } catch let error as MLModelError {
    print(error.code == .featureType, error.localizedDescription)
  } catch { print((error as NSError).domain == MLModelErrorDomain, (error as NSError).code) }
}

@main
struct Symbols {
  static func main() {}
}
