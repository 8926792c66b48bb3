public import Foundation
public import Kelvin

/// A device that models may run on.
public protocol MLComputeDeviceProtocol: AnyObject, Sendable {}

/// The CPU.
public final class MLCPUComputeDevice: NSObject, MLComputeDeviceProtocol, Sendable {
  /// Kelvin's device.
  public let kelvin: ComputeDevice

  init(_ device: ComputeDevice) { kelvin = device }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MLCPUComputeDevice).map { kelvin == $0.kelvin } ?? false
  }
  public override var hash: Int { kelvin.hashValue }
  public override var description: String { kelvin.name }
}

/// A GPU, or a software driver for one.
public final class MLGPUComputeDevice: NSObject, MLComputeDeviceProtocol, Sendable {
  /// Kelvin's device.
  public let kelvin: ComputeDevice

  init(_ device: ComputeDevice) { kelvin = device }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MLGPUComputeDevice).map { kelvin == $0.kelvin } ?? false
  }
  public override var hash: Int { kelvin.hashValue }
  public override var description: String { kelvin.name }
}

/// An accelerator other than a GPU.
public final class MLNeuralEngineComputeDevice: NSObject, MLComputeDeviceProtocol, Sendable {
  /// Kelvin's device.
  public let kelvin: ComputeDevice

  init(_ device: ComputeDevice) { kelvin = device }

  /// The number of cores, which drivers do not tell: 1.
  public var totalCoreCount: Int { 1 }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MLNeuralEngineComputeDevice).map { kelvin == $0.kelvin } ?? false
  }
  public override var hash: Int { kelvin.hashValue }
  public override var description: String { kelvin.name }
}

/// A device that models may run on, by its kind.
public enum MLComputeDevice: Hashable, Sendable, CustomStringConvertible {
  /// The CPU.
  case cpu(MLCPUComputeDevice)
  /// A GPU, or a software driver for one.
  case gpu(MLGPUComputeDevice)
  /// An accelerator other than a GPU.
  case neuralEngine(MLNeuralEngineComputeDevice)

  /// Creates a device from one of Kelvin's. Kelvin's slow reference device is a CPU here.
  public init(_ device: ComputeDevice) {
    self =
      switch device {
      case .cpu, .reference: .cpu(MLCPUComputeDevice(device))
      case .gpu, .software: .gpu(MLGPUComputeDevice(device))
      case .neuralEngine: .neuralEngine(MLNeuralEngineComputeDevice(device))
      }
  }

  /// Kelvin's device.
  public var kelvin: ComputeDevice {
    switch self {
    case .cpu(let device): device.kelvin
    case .gpu(let device): device.kelvin
    case .neuralEngine(let device): device.kelvin
    }
  }

  /// The vendor's name of the device.
  public var description: String { kelvin.name }

  /// Every device of this machine, including software drivers.
  public static var allComputeDevices: [MLComputeDevice] {
    ComputeDevice.allComputeDevices.compactMap { device in
      if case .reference = device { nil } else { MLComputeDevice(device) }
    }
  }
}

/// Every device of this machine, including software drivers.
public func MLAllComputeDevices() -> [MLComputeDevice] { MLComputeDevice.allComputeDevices }
