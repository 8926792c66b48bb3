public import Foundation
public import Kelvin

/// The options for loading a model.
public final class MLModelConfiguration: NSObject, NSCopying, @unchecked Sendable {
  /// Kelvin's options: devices by name, precision, threads, a saved plan, the cache and more.
  public var kelvin = ModelConfiguration()
  /// Hints about how the model will be used.
  public var optimizationHints = MLOptimizationHints() {
    didSet { kelvin.optimizationHints = optimizationHints.kelvin }
  }
  /// Has no effect: sums of products are always float32. See `kelvin.precision`.
  public var allowLowPrecisionAccumulationOnGPU = false

  /// Creates the default configuration: all units, and the registered classes for custom layers and models.
  public override init() { kelvin.customCode = CustomClasses.code }

  /// The units that the model may use. `kelvin.computeUnits` can also name devices, which are ``MLComputeUnits/all``
  /// here.
  public var computeUnits: MLComputeUnits {
    get {
      switch kelvin.computeUnits {
      case .all, .devices: .all
      case .cpuOnly: .cpuOnly
      case .cpuAndGPU: .cpuAndGPU
      case .cpuAndNeuralEngine: .cpuAndNeuralEngine
      }
    }
    set {
      kelvin.computeUnits =
        switch newValue {
        case .all: .all
        case .cpuOnly: .cpuOnly
        case .cpuAndGPU: .cpuAndGPU
        case .cpuAndNeuralEngine: .cpuAndNeuralEngine
        }
    }
  }

  /// A display name; nil for the file's name.
  public var modelDisplayName: String? {
    get { kelvin.modelDisplayName }
    set { kelvin.modelDisplayName = newValue }
  }

  /// The function to call; nil for the model's default function.
  public var functionName: String? {
    get { kelvin.functionName }
    set { kelvin.functionName = newValue }
  }

  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = MLModelConfiguration()
    copy.optimizationHints = optimizationHints
    copy.allowLowPrecisionAccumulationOnGPU = allowLowPrecisionAccumulationOnGPU
    copy.kelvin = kelvin
    return copy
  }
}

/// Hints about how a model will be used.
public struct MLOptimizationHints: Hashable, Sendable {
  /// How often the sizes of flexible inputs change.
  public enum ReshapeFrequency: Int, Sendable {
    /// They change often.
    case frequent
    /// They change seldom.
    case infrequent
  }

  /// The time that loading may take in order to make predictions fast.
  public enum SpecializationStrategy: Int, Sendable {
    /// The usual balance.
    case `default`
    /// Fast predictions.
    case fastPrediction
  }

  /// How often the sizes of flexible inputs change.
  public var reshapeFrequency = ReshapeFrequency.frequent
  /// Has no effect: Kelvin always plans for fast predictions.
  public var specializationStrategy = SpecializationStrategy.default

  /// Creates the default hints.
  public init() {}

  /// Kelvin's hints.
  public var kelvin: OptimizationHints {
    OptimizationHints(reshapeFrequency: reshapeFrequency == .frequent ? .frequent : .infrequent)
  }
}
