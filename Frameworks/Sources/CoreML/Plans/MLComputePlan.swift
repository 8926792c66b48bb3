public import Foundation
public import Kelvin

/// The device of each operation of a model, and its share of the cost.
public final class MLComputePlan: Sendable {
  /// The placement of an operation.
  public struct DeviceUsage: Sendable {
    /// Kelvin's placement, with the reason.
    public let kelvin: ComputePlan.DeviceUsage

    init(_ usage: ComputePlan.DeviceUsage) { kelvin = usage }

    /// The device that runs the operation.
    public var preferred: MLComputeDevice { MLComputeDevice(kelvin.preferred) }
    /// The devices that can run it.
    public var supported: [MLComputeDevice] { kelvin.supported.map { MLComputeDevice($0) } }
  }

  /// The cost of an operation.
  public struct Cost: Sendable {
    /// Kelvin's cost, with the time.
    public let kelvin: ComputePlan.Cost

    init(_ cost: ComputePlan.Cost) { kelvin = cost }

    /// The share of the whole model's cost, 0…1.
    public var weight: Double { kelvin.weight }
  }

  /// Kelvin's plan, with times and reasons.
  public let kelvin: ComputePlan

  /// Creates a plan from one of Kelvin's.
  public init(_ plan: ComputePlan) { kelvin = plan }

  /// Plans a model without compiling it.
  ///
  /// - Throws: `MLModelError` as loading the model does.
  public static func load(contentsOf url: URL, configuration: MLModelConfiguration) async throws -> MLComputePlan {
    do throws(ModelError) {
      return MLComputePlan(try await ComputePlan.load(contentsOf: url, configuration: configuration.kelvin))
    } catch { throw MLModelError(error) }
  }

  /// Plans an asset's model without compiling it.
  ///
  /// - Throws: `MLModelError` as loading the model does.
  public static func load(asset: MLModelAsset, configuration: MLModelConfiguration) async throws -> MLComputePlan {
    do throws(ModelError) {
      return MLComputePlan(try await ComputePlan.load(asset: asset.kelvin, configuration: configuration.kelvin))
    } catch { throw MLModelError(error) }
  }

  /// The model's operations.
  public var modelStructure: MLModelStructure { MLModelStructure(kelvin.modelStructure) }

  /// Returns the placement of an operation; nil if it was computed when the model was loaded.
  public func deviceUsage(for operation: MLModelStructure.Program.Operation) -> DeviceUsage? {
    kelvin.deviceUsage(for: operation.kelvin).map { DeviceUsage($0) }
  }

  /// Returns the placement of a layer; nil if it was computed when the model was loaded.
  public func deviceUsage(for layer: MLModelStructure.NeuralNetwork.Layer) -> DeviceUsage? {
    kelvin.deviceUsage(for: layer.kelvin).map { DeviceUsage($0) }
  }

  /// Returns the cost of an operation; nil if it costs nothing.
  public func estimatedCost(of operation: MLModelStructure.Program.Operation) -> Cost? {
    kelvin.estimatedCost(of: operation.kelvin).map { Cost($0) }
  }

  /// Returns the cost of a layer; nil if it costs nothing.
  public func estimatedCost(of layer: MLModelStructure.NeuralNetwork.Layer) -> Cost? {
    kelvin.estimatedCost(of: layer.kelvin).map { Cost($0) }
  }
}
