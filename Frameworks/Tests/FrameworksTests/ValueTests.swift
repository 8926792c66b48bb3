import CoreML
import CoreVideo
import Foundation
import Kelvin
import Testing
import Vision

/// Arrays, values, buffers and errors of the modules.
@Suite struct ValueTests {
  private func model() throws -> MLModel {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    return try MLModel(contentsOf: Places.digits, configuration: configuration)
  }

  @Test func arraysShareTheirMemory() throws {
    let array = try MLMultiArray(shape: [2, 3], dataType: .float32)
    array[[1, 2] as [NSNumber]] = 5.5
    array[1] = 2
    let memory = array.dataPointer.assumingMemoryBound(to: Float.self)
    #expect((0..<6).map { memory[$0] } == [0, 2, 0, 0, 0, 5.5])
    #expect(array[5].floatValue == 5.5 && array.strides == [3, 1] && array.kelvin.floats[5] == 5.5)
    memory[0] = -1
    #expect(MLFeatureValue(multiArray: array).multiArrayValue === array && array[0] == -1)

    let bytes = try MLMultiArray(shape: [2], dataType: .int8)
    bytes[0] = 1000
    bytes[1] = -3.9
    #expect(bytes[0] == 127 && bytes[1] == -3)
    let gaps = try MLMultiArray(shape: [2, 2], dataType: .float16, strides: [8, 2])
    gaps[3] = 0.5
    #expect(gaps[[1, 1] as [NSNumber]] == 0.5 && MLShapedArray<Float16>(gaps).scalars == [0, 0, 0, 0.5])
  }

  @Test func arraysOfOtherTypesBecomeInt32() throws {
    let source = try MultiArray(shape: [2], dataType: .int64)
    source[0] = 7
    source[1] = 1e12
    let array = MLMultiArray(source)
    #expect(array.dataType == .int32 && array[0] == 7 && array[1].int32Value == .max)
  }

  @Test func callersMemoryIsReleasedOnce() throws {
    nonisolated(unsafe) let memory = UnsafeMutablePointer<Double>.allocate(capacity: 4)
    memory.update(repeating: 1, count: 4)
    nonisolated(unsafe) var count = 0
    do {
      let array = try MLMultiArray(
        dataPointer: memory, shape: [2, 2], dataType: .double, strides: [2, 1],
        deallocator: {
          count += 1
          $0.deallocate()
        })
      #expect(array[3] == 1 && count == 0)
    }
    #expect(count == 1)
  }

  @Test func valuesHaveCoreMLsDefaults() throws {
    let text = MLFeatureValue(string: "seven")
    #expect(text.stringValue == "seven" && text.int64Value == 0 && text.doubleValue == 0)
    #expect(text.dictionaryValue.isEmpty && text.multiArrayValue == nil && text.type.rawValue == 3)
    let shares = try MLFeatureValue(dictionary: ["a": 0.25, "b": 0.75])
    #expect(shares.dictionaryValue as? [String: Double] == ["a": 0.25, "b": 0.75])
    let counts = try MLFeatureValue(dictionary: [1: 2, 3: 4])
    #expect(counts.dictionaryValue[3 as NSNumber] == 4)
    #expect(throws: MLModelError.self) { try MLFeatureValue(dictionary: ["a": 1, 2: 2]) }
    let provider = try MLDictionaryFeatureProvider(dictionary: [
      "integer": 3, "number": 1.5, "half": Float16(0.5), "single": Float(2), "flag": true, "text": "x",
    ])
    let types = provider.dictionary.mapValues(\.type)
    #expect(
      types == [
        "integer": .int64, "number": .double, "half": .double, "single": .double, "flag": .int64, "text": .string,
      ])
  }

  @Test func predictionsReadBuffersInPlace() throws {
    let buffer = try #require(made(8, 4, kCVPixelFormatType_32BGRA))
    #expect(CVPixelBufferGetBytesPerRow(buffer) == 64)
    let pixel = try #require(CVPixelBufferGetBaseAddress(buffer)).assumingMemoryBound(to: UInt8.self)
    let value = MLFeatureValue(pixelBuffer: buffer)
    pixel[64 + 4] = 200
    let image = try #require(value.kelvin.imageBufferValue)
    #expect(image.bytes[8 * 4 + 4] == 200 && value.imageBufferValue === buffer)
  }

  @Test func buffersOverBytesAreReleasedOnce() throws {
    final class Count: @unchecked Sendable { var value = 0 }
    let count = Count()
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 9, count: 64)
    var image: PixelBuffer?
    do {
      var buffer: CVPixelBuffer?
      let status = CVPixelBufferCreateWithBytes(
        nil, 4, 4, kCVPixelFormatType_OneComponent8, memory, 16,
        { counter, bytes in
          guard let counter, let bytes else { return }
          Unmanaged<Count>.fromOpaque(counter).takeUnretainedValue().value += 1
          UnsafeMutableRawPointer(mutating: bytes).deallocate()
        }, Unmanaged.passUnretained(count).toOpaque(), nil, &buffer)
      #expect(status == kCVReturnSuccess)
      image = buffer?.kelvin
    }
    #expect(count.value == 0 && image?.bytes == [UInt8](repeating: 9, count: 16))
    image = nil
    #expect(count.value == 1)
  }

  @Test func videoFramesHavePlanes() throws {
    let buffer = try #require(made(5, 3, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange))
    #expect(CVPixelBufferIsPlanar(buffer) && CVPixelBufferGetPlaneCount(buffer) == 2)
    #expect(CVPixelBufferGetWidthOfPlane(buffer, 1) == 3 && CVPixelBufferGetHeightOfPlane(buffer, 1) == 2)
    #expect(CVPixelBufferGetBaseAddressOfPlane(buffer, 2) == nil && buffer.kelvin.format == .yCbCr601Full)
    CVBufferSetAttachment(
      buffer, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2, .shouldPropagate)
    #expect(buffer.kelvin.format == .yCbCr709Full)
  }

  @Test func poolsReuseMemory() throws {
    let attributes: [CFString: Any] = [
      kCVPixelBufferWidthKey: 16, kCVPixelBufferHeightKey: 16,
      kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_OneComponent8,
    ]
    var pool: CVPixelBufferPool?
    #expect(CVPixelBufferPoolCreate(nil, nil, attributes as CFDictionary, &pool) == kCVReturnSuccess)
    let source = try #require(pool)
    var buffer: CVPixelBuffer?
    CVPixelBufferPoolCreatePixelBuffer(nil, source, &buffer)
    let first = CVPixelBufferGetBaseAddress(try #require(buffer))
    let limit = [kCVPixelBufferPoolAllocationThresholdKey: 1] as CFDictionary
    var second: CVPixelBuffer?
    let status = CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(nil, source, limit, &second)
    #expect(status == kCVReturnWouldExceedAllocationThreshold && second == nil)
    buffer = nil
    CVPixelBufferPoolCreatePixelBuffer(nil, source, &second)
    #expect(CVPixelBufferGetBaseAddress(try #require(second)) == first)
  }

  @Test func unknownFormatsAreRefused() throws {
    var buffer: CVPixelBuffer?
    #expect(CVPixelBufferCreate(nil, 4, 4, 0x1234_5678, nil, &buffer) == kCVReturnInvalidPixelFormat)
    #expect(CVPixelBufferCreate(nil, 0, 4, kCVPixelFormatType_32BGRA, nil, &buffer) == kCVReturnInvalidSize)
    #expect(buffer == nil)
    let error = try #require(throws: MLModelError.self) {
      try MLFeatureValue(
        imageAt: Places.nine, pixelsWide: 28, pixelsHigh: 28, pixelFormatType: kCVPixelFormatType_24BGR, options: nil)
    }
    #expect(error.code == .featureType && error.localizedDescription.contains("pixel format"))
  }

  @Test func errorsHaveDomainsAndCodes() throws {
    let model = try model()
    do {
      _ = try MLModel(contentsOf: URL(fileURLWithPath: "/absent.mlmodel"))
      Issue.record("an absent model was loaded")
    } catch MLModelError.io {}
    let wrong = try MLDictionaryFeatureProvider(dictionary: ["image": "text"])
    let error = try #require(throws: MLModelError.self) { try model.prediction(from: wrong) }
    #expect((error as NSError).domain == "com.apple.CoreML" && (error as NSError).code == 1)
    #expect(
      (error as NSError).localizedDescription == error.kelvin?.description && error.description.contains("'image'"))
    let options = MLPredictionOptions()
    options.outputBackings = ["classLabelProbs": "text"]
    let image = try MLFeatureValue(
      imageAt: Places.nine, constraint: try #require(constraint(model)), options: nil)
    let input = try MLDictionaryFeatureProvider(dictionary: ["image": image])
    #expect(throws: MLModelError.self) { try model.prediction(from: input, options: options) }
    let answer = try model.prediction(from: input)
    #expect(answer.featureValue(for: "absent") == nil)
    #expect(answer.featureValue(for: try #require(model.modelDescription.predictedFeatureName))?.stringValue == "nine")
    #expect(throws: MLModelError.self) { try MLMultiArray(shape: [-1], dataType: .float32) }
  }

  @Test func requestsAreKeysAndCanBeCancelled() throws {
    let model = try VNCoreMLModel(for: try model())
    let (first, second) = (VNCoreMLRequest(model: model), VNCoreMLRequest(model: model))
    var names: [VNRequest: String] = [first: "first", second: "second"]
    #expect(names.removeValue(forKey: first) == "first" && names[first] == nil && names[second] == "second")
    second.cancel()
    let error = try #require(throws: VNError.self) {
      try VNImageRequestHandler(url: Places.nine).perform([second, first])
    }
    #expect((error as NSError).domain == "com.apple.Vis" && (error as NSError).code == 1)
    #expect(second.results == nil && (first.results?.first as? VNClassificationObservation)?.identifier == "nine")
    first.regionOfInterest = CGRect(x: 2, y: 0, width: 1, height: 1)
    let outside = try #require(throws: VNError.self) { try VNImageRequestHandler(url: Places.nine).perform([first]) }
    #expect(outside.code == .invalidArgument)
    model.inputImageFeatureName = "absent"
    let absent = try #require(throws: VNError.self) { try VNImageRequestHandler(url: Places.nine).perform([second]) }
    #expect(absent.code == .invalidModel)
  }

  private func made(_ width: Int, _ height: Int, _ type: OSType) -> CVPixelBuffer? {
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(nil, width, height, type, nil, &buffer)
    return buffer
  }

  private func constraint(_ model: MLModel) -> MLImageConstraint? {
    model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint
  }
}
