// The declarations of the module CoreML that generated classes use, without behaviour: tests compile classes against them.
@_exported import Foundation

public typealias OSType = UInt32
public let kCVPixelFormatType_32ARGB: OSType = 0x20
public let kCVPixelFormatType_OneComponent8: OSType = 0x4C30_3038
public let kCVPixelFormatType_OneComponent16Half: OSType = 0x4C30_3068

public final class CVPixelBuffer {}
public final class CGImage {}
public final class MLState {}
public final class MLSequence {}
public final class MLModelConfiguration: NSObject, @unchecked Sendable {}
public final class MLPredictionOptions: NSObject, @unchecked Sendable {}

public protocol MLShapedArrayScalar {}
extension Double: MLShapedArrayScalar {}
extension Float: MLShapedArrayScalar {}
extension Float16: MLShapedArrayScalar {}
extension Int32: MLShapedArrayScalar {}
extension Int8: MLShapedArrayScalar {}

public struct MLShapedArray<Scalar: MLShapedArrayScalar> {
  public init(_ array: MLMultiArray) {}
  public init(converting array: MLMultiArray) {}
}

public final class MLMultiArray {
  public convenience init<Scalar>(_ array: MLShapedArray<Scalar>) { fatalError("for the compiler only") }
}

public final class MLFeatureValue {
  public struct ImageOption: Hashable {}
  public init(int64 value: Int64) {}
  public init(double value: Double) {}
  public init(string value: String) {}
  public init(multiArray value: MLMultiArray) {}
  public init(pixelBuffer value: CVPixelBuffer) {}
  public init(sequence value: MLSequence) {}
  public init(dictionary value: [AnyHashable: NSNumber]) throws {}
  public init(
    cgImage: CGImage, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType, options: [ImageOption: Any]?
  ) throws {}
  public init(
    imageAt url: URL, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType, options: [ImageOption: Any]?
  ) throws {}
  public var int64Value: Int64 { 0 }
  public var doubleValue: Double { 0 }
  public var stringValue: String { "" }
  public var multiArrayValue: MLMultiArray? { nil }
  public var imageBufferValue: CVPixelBuffer? { nil }
  public var sequenceValue: MLSequence? { nil }
  public var dictionaryValue: [AnyHashable: NSNumber] { [:] }
}

public protocol MLFeatureProvider: AnyObject {
  var featureNames: Set<String> { get }
  func featureValue(for featureName: String) -> MLFeatureValue?
}

public final class MLDictionaryFeatureProvider: MLFeatureProvider {
  public init(dictionary: [String: Any]) throws {}
  public var featureNames: Set<String> { [] }
  public func featureValue(for featureName: String) -> MLFeatureValue? { nil }
}

public protocol MLBatchProvider: AnyObject {
  var count: Int { get }
  func features(at index: Int) -> any MLFeatureProvider
}

public final class MLArrayBatchProvider: MLBatchProvider {
  public init(array: [any MLFeatureProvider]) {}
  public var count: Int { 0 }
  public func features(at index: Int) -> any MLFeatureProvider { fatalError("for the compiler only") }
}

open class MLModel: NSObject, @unchecked Sendable {
  public init(contentsOf url: URL) throws {}
  public init(contentsOf url: URL, configuration: MLModelConfiguration) throws {}
  public class func load(
    contentsOf url: URL, configuration: MLModelConfiguration = MLModelConfiguration()
  ) async throws -> MLModel { try MLModel(contentsOf: url) }
  public class func load(
    contentsOf url: URL, configuration: MLModelConfiguration = MLModelConfiguration(),
    completionHandler handler: @escaping (Result<MLModel, any Error>) -> Void
  ) {}
  public func prediction(
    from input: any MLFeatureProvider, options: MLPredictionOptions
  ) throws -> any MLFeatureProvider { input }
  public func prediction(
    from input: any MLFeatureProvider, options: MLPredictionOptions = MLPredictionOptions()
  ) async throws -> any MLFeatureProvider { try MLDictionaryFeatureProvider(dictionary: [:]) }
  public func predictions(
    from batch: any MLBatchProvider, options: MLPredictionOptions
  ) throws -> any MLBatchProvider { batch }
  public func makeState() -> MLState { MLState() }
  public func prediction(
    from input: any MLFeatureProvider, using state: MLState
  ) throws -> any MLFeatureProvider { input }
  public func prediction(
    from input: any MLFeatureProvider, using state: MLState, options: MLPredictionOptions = MLPredictionOptions()
  ) async throws -> any MLFeatureProvider { try MLDictionaryFeatureProvider(dictionary: [:]) }
}
