import CKelvinShaders
import KelvinDevices
import KelvinGraph

/// The driver's pipeline cache as a blob.
enum PipelineBlob {
  /// Shorter data is no cache. Mesa 26.2's lavapipe returns such data, and keeps its cache itself.
  static let headerByteCount = 32

  /// Returns a string that identifies the device, its driver and the shaders.
  private static func identity(_ properties: VulkanProperties) -> String {
    "vulkan/\(properties.uuidText)-\(properties.driverVersion)-\(shaderDigest)"
  }

  /// Returns a string that also identifies the kernels: the traits that select shaders and their constants.
  static func identity(_ properties: VulkanProperties, _ traits: VulkanTraits) -> String {
    "\(identity(properties))-\(Digest("\(traits)"))"
  }

  static func key(_ properties: VulkanProperties) -> String { "\(identity(properties))/pipelines" }

  static func wrapped(_ data: [UInt8], for properties: VulkanProperties) -> [UInt8] {
    CheckedBlob.encoded(data, origin: Digest(key(properties)))
  }

  /// Returns the driver's bytes, or nil if the blob is damaged or from another driver.
  static func payload(_ blob: Bytes, for properties: VulkanProperties) -> [UInt8]? {
    guard let data = CheckedBlob.payload(of: blob, origin: Digest(key(properties))) else { return nil }
    // VkPipelineCacheHeaderVersionOne: length, version, vendor, device, then the UUID of the driver's cache.
    guard data.count >= headerByteCount else { return nil }
    func word(_ index: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(data[index * 4 + $1]) << UInt32(8 * $1) } }
    guard word(0) >= 32, word(1) == 1, word(2) == properties.vendor, word(3) == properties.device,
      Array(data[16..<32]) == properties.cacheUUID
    else { return nil }
    return data
  }

  /// The digest of every module's bytes.
  private static let shaderDigest: Digest = {
    var count = 0
    let modules = UnsafeBufferPointer(start: kelvin_spirv_modules(&count), count: count)
    return Digest(of: modules.map { UnsafeRawBufferPointer(start: $0.bytes, count: $0.count) })
  }()
}
