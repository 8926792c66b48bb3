public import CoreML
public import Foundation
import KelvinVision
import Synchronization

/// A closure that is called with a finished request. Its `results` are set, or the error tells why there are none.
public typealias VNRequestCompletionHandler = (_ request: VNRequest, _ error: (any Error)?) -> Void

/// A step of a request that a device computes.
public struct VNComputeStage: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  /// Creates a step from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The model.
  public static let main = VNComputeStage(rawValue: "VNComputeStageMain")
  /// Work after the model.
  public static let postProcessing = VNComputeStage(rawValue: "VNComputeStagePostProcessing")
}

/// A request in the style of Vision's first API generation: a handler performs it, and the answer is in `results`.
///
/// A request may be performed on many images one after another, but not on several threads. Requests are equal if they
/// are the same object, so that they may be keys of a dictionary.
open class VNRequest: NSObject, VNRequestResults {
  /// The closure that is called after every performance of the request, on the thread that performs it.
  public let completionHandler: VNRequestCompletionHandler?
  /// Has no effect.
  open var preferBackgroundProcessing = false
  /// Has no effect: units are chosen when a model is loaded.
  open var usesCPUOnly = false
  /// The version of the request's algorithm.
  open var revision = 1
  /// The observations of the last image; nil before the first, and after a failure.
  fileprivate(set) var found: [VNObservation]?
  private let isCancelled = Mutex(false)
  private var devices: [VNComputeStage: MLComputeDevice] = [:]

  /// Creates a request.
  public init(completionHandler: VNRequestCompletionHandler? = nil) { self.completionHandler = completionHandler }

  /// The versions of the request's algorithm.
  open class var supportedRevisions: IndexSet { IndexSet(integer: 1) }
  /// The version that new requests have.
  open class var defaultRevision: Int { 1 }
  /// The latest version.
  open class var currentRevision: Int { 1 }

  /// Makes the request fail when it is next performed. Any thread may call it. A prediction that has begun ends as usual.
  open func cancel() { isCancelled.withLock { $0 = true } }

  /// The devices of this machine. A model's units are chosen when it is loaded.
  public var supportedComputeStageDevices: [VNComputeStage: [MLComputeDevice]] {
    get throws { [.main: MLModel.availableComputeDevices] }
  }

  /// Returns the device that was set for a step.
  public func computeDevice(for computeStage: VNComputeStage) -> MLComputeDevice? { devices[computeStage] }

  /// Has no effect but on ``computeDevice(for:)``: a model's units are chosen when it is loaded.
  public func setComputeDevice(_ computeDevice: MLComputeDevice?, for computeStage: VNComputeStage) {
    devices[computeStage] = computeDevice
  }

  /// Returns the observations of an image; subclasses override it. Blocks the calling thread.
  func observations(of image: KelvinVision.ImageRequestHandler) throws(VisionError) -> [VNObservation] { [] }

  /// Sets the results for an image and calls the completion handler. Returns the error; nil for success.
  func answer(for image: KelvinVision.ImageRequestHandler) -> VNError? {
    var error: VNError?
    let wasCancelled = isCancelled.withLock { flag in
      defer { flag = false }
      return flag
    }
    do throws(VisionError) {
      if wasCancelled {
        (found, error) = (nil, VNError(.requestCancelled, "the request was cancelled"))
      } else {
        found = try observations(of: image)
      }
    } catch let failure { (found, error) = (nil, VNError(failure)) }
    completionHandler?(self, error)
    return error
  }
}

/// Gives a request `results`. A request whose observations have one type declares its own, which Swift prefers.
public protocol VNRequestResults: AnyObject {}

extension VNRequestResults {
  /// The observations of the last image; nil before the first, and after a failure.
  public var results: [VNObservation]? { (self as? VNRequest)?.found }
}

/// A request that analyses an image.
open class VNImageBasedRequest: VNRequest {
  /// The part of the upright image that the request analyses, in shares of its sides, from its lower left corner.
  open var regionOfInterest = CGRect(x: 0, y: 0, width: 1, height: 1)
}
