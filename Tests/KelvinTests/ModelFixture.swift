import FoundationEssentials
import Glibc
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinFormats
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport

/// Models that tests run, and what they take.
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

  /// The devices that take part: all that are there.
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

/// Bytes of memory this process holds; 0 where ThreadSanitizer's shadow of it, which only grows, would count.
func residentByteCount() -> Int {
  guard getenv("TSAN_OPTIONS") == nil else { return 0 }
  let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
    .first
  return (pages.flatMap { Int($0) } ?? 0) * 4096
}
