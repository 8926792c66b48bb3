import CKelvinSupport
package import KelvinDevices
import KelvinGraph

/// Memory of a Vulkan device, mapped for the host if the two share it. The size is rounded up, so that kernels may read
/// and write whole groups of four elements at the end of any slice.
package final class VulkanBuffer: Buffer, @unchecked Sendable {
  package let byteCount: Int
  let context: VulkanContext
  let allocation: VulkanAllocation
  /// The imported host memory, if any; it is never written.
  private let host: MemoryImport.Part?
  /// Whether it is host memory for copies, which does not count as the device's.
  private let isStaging: Bool

  /// - Parameter isZeroed: whether memory that the host can address starts as zeros.
  /// - Throws: `.outOfMemory`; the error that disabled the device.
  static func make(
    _ context: VulkanContext, byteCount: Int, isZeroed: Bool = true
  ) throws(DeviceError) -> VulkanBuffer {
    try context.health.check()
    return try context.guarded("a buffer of \(byteCount) bytes") { () throws(DeviceError) in
      try VulkanBuffer(context, byteCount: byteCount, isZeroed: isZeroed, isStaging: false)
    }
  }

  /// Makes host memory that the device's copies read and write. Call it on a `DriverThread`.
  ///
  /// - Throws: `.outOfMemory`; the error that disabled the device.
  static func staging(_ context: VulkanContext, byteCount: Int) throws(DeviceError) -> VulkanBuffer {
    try VulkanBuffer(context, byteCount: byteCount, isZeroed: false, isStaging: true)
  }

  private init(_ context: VulkanContext, byteCount: Int, isZeroed: Bool, isStaging: Bool) throws(DeviceError) {
    let limit = 1 << 40
    guard (0...limit).contains(byteCount) else {
      throw context.error(
        .outOfMemory, "a buffer of \(byteCount) bytes", "sizes go from 0 to \(limit)", byteCount: byteCount)
    }
    self.byteCount = byteCount
    self.context = context
    let rounded = (max(byteCount, 1) + bufferAlignment - 1) / bufferAlignment * bufferAlignment
    allocation = try VulkanAllocation(context, byteCount: TexelSize.buffer(rounded), isStaging: isStaging)
    host = nil
    self.isStaging = isStaging
    if !isStaging { context.health.took(byteCount: allocation.byteCount) }
    if isZeroed, let pointer = allocation.pointer {
      try DriverThread.pausing { () throws(DeviceError) in
        _ = pointer.initializeMemory(as: UInt8.self, repeating: 0, count: rounded)
      }
    }
  }

  /// Imports a packed weight in place; the device only reads it. Returns nil if the weight must be copied.
  ///
  /// - Throws: the error that disabled the device.
  static func importing(_ weight: Bytes, _ context: VulkanContext) throws(DeviceError) -> VulkanBuffer? {
    guard let part = context.properties.memoryImport?.part(weight) else { return nil }
    do throws(DeviceError) {
      let allocation = try context.guarded("\(weight.count) bytes of the host") { () throws(DeviceError) in
        try VulkanAllocation(context, of: part)
      }
      return VulkanBuffer(context, byteCount: weight.count, allocation, host: part)
    } catch {
      if error.takesDeviceOut { throw error }
      return nil
    }
  }

  private init(_ context: VulkanContext, byteCount: Int, _ allocation: VulkanAllocation, host: MemoryImport.Part) {
    self.byteCount = byteCount
    self.context = context
    self.allocation = allocation
    self.host = host
    isStaging = false
    context.health.took(byteCount: allocation.byteCount)
  }

  deinit {
    if !isStaging { context.health.freed(byteCount: allocation.byteCount) }
    context.free { [context, allocation] in allocation.destroy(context.vk, context.device) }
    if !context.health.mayFree, let host { LeakedResources.keep(host) }
  }

  package var hostPointer: UnsafeMutableRawPointer? { allocation.isReadable ? allocation.pointer : nil }

  package func write(_ source: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    precondition(host == nil && offset >= 0 && offset + source.count <= byteCount)
    guard let base = source.baseAddress, source.count > 0 else { return }
    if let pointer = allocation.pointer {
      (pointer + offset).copyMemory(from: base, byteCount: source.count)
    } else {
      try context.guarded("copy to the device") { [context, allocation] () throws(DeviceError) in
        try context.withStaging { staging throws(DeviceError) in
          try staging.write(source, to: allocation, at: offset, context)
        }
      }
    }
  }

  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) {
    precondition(offset >= 0 && offset + target.count <= byteCount)
    guard let base = target.baseAddress, target.count > 0 else { return }
    if let pointer = hostPointer {
      base.copyMemory(from: pointer + offset, byteCount: target.count)
    } else {
      try context.guarded("copy from the device") { [context, allocation] () throws(DeviceError) in
        try context.withStaging { staging throws(DeviceError) in
          try staging.read(allocation, at: offset, into: target, context)
        }
      }
    }
  }
}
