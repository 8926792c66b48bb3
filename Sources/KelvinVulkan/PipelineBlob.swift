import CKelvinShaders
import KelvinGraph

/// The driver's pipeline cache as a blob: a checked header of ours, then the driver's own bytes. Drivers are known to
/// trust their bytes too much, so nothing that is not exactly what was stored is given to one.
enum PipelineBlob {
  private static let magic: [UInt8] = Array("KVPC".utf8)
  private static let headerByteCount = 20

  /// Names the device, its driver and the shaders.
  static func key(_ properties: VulkanProperties) -> String {
    "vulkan/\(properties.uuidText)-\(properties.driverVersion)-\(String(shaderHash, radix: 16))/pipelines"
  }

  static func wrapped(_ data: [UInt8]) -> [UInt8] {
    magic + littleEndian(UInt64(data.count)) + littleEndian(hash(data)) + data
  }

  /// The driver's bytes, or nil where the blob is damaged or another driver's.
  static func payload(_ blob: Bytes, for properties: VulkanProperties) -> [UInt8]? {
    let bytes = blob.withUnsafeBytes { Array($0) }
    guard bytes.count > headerByteCount, Array(bytes.prefix(4)) == magic else { return nil }
    let data = Array(bytes.dropFirst(headerByteCount))
    guard Array(bytes[4..<12]) == littleEndian(UInt64(data.count)), Array(bytes[12..<20]) == littleEndian(hash(data))
    else { return nil }
    // VkPipelineCacheHeaderVersionOne: length, version, vendor, device, then the UUID of the driver's cache.
    guard data.count >= 32 else { return nil }
    func word(_ index: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(data[index * 4 + $1]) << UInt32(8 * $1) } }
    guard word(0) >= 32, word(1) == 1, word(2) == properties.vendor, word(3) == properties.device,
      Array(data[16..<32]) == properties.cacheUUID
    else { return nil }
    return data
  }

  /// FNV-1a of every module's bytes.
  private static let shaderHash: UInt64 = {
    var count = 0
    let rows = UnsafeBufferPointer(start: kelvin_spirv_modules(&count), count: count)
    return rows.reduce(0xCBF2_9CE4_8422_2325) { hash($0, UnsafeBufferPointer(start: $1.bytes, count: $1.count)) }
  }()

  private static func hash(_ bytes: [UInt8]) -> UInt64 { hash(0xCBF2_9CE4_8422_2325, bytes) }

  private static func hash(_ start: UInt64, _ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private static func littleEndian(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
