import FoundationEssentials
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinImport
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport

/// Models that tests run, with their inputs.
enum ModelFixture {
  static let digits = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx"
  static let digitsPackage = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage"

  static func load(_ path: String, precision: Precision = .full) throws -> LoadedModel {
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["cpu"]), precision: precision, threads: 2)
    return try LoadedModel(path: path, options: options)
  }

  static func tensor(_ name: String) throws -> Tensor {
    try NPY.read(try Bytes(mapping: SharedFiles.path(name)), name: name)
  }

  /// The devices that take part: all available ones.
  static let devices = deviceInventory.devices.map(\.info.id)
  static let fastDevices = devices.filter { $0 != "reference" }
}

/// Packed weights kept for a whole test, by device.
final class SharedWeights {
  private var stores: [String: MemoryPackedWeights] = [:]

  func store(_ device: any Device) -> (any PackedWeights, any BlobCache) {
    let store = stores[device.info.id] ?? MemoryPackedWeights()
    stores[device.info.id] = store
    return (store, NoBlobCache())
  }
}
