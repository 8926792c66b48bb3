import CKelvinSupport
import KelvinDevices

/// Host memory of one invocation, which its command buffers copy from and to: for the inputs that the host writes to
/// memory that it cannot map, and for the outputs that it reads from memory that it cannot read fast.
struct StagedValues {
  struct Copy {
    let source: VulkanAllocation
    let target: VulkanAllocation
    let region: VkBufferCopy
  }

  /// The host memory, by the index of the input or output.
  private(set) var inputs: [Int: BufferSlice] = [:]
  private(set) var outputs: [Int: BufferSlice] = [:]
  private(set) var uploads: [Copy] = []
  private(set) var downloads: [Copy] = []
  private let context: VulkanContext

  /// - Precondition: the bindings are in buffers of this device.
  /// - Throws: `.outOfMemory`; the error that disabled the device.
  init(_ context: VulkanContext, _ bindings: Bindings) throws(DeviceError) {
    self.context = context
    func values(
      _ indices: Set<Int>, _ slices: [BufferSlice], _ needsCopy: (VulkanBuffer) -> Bool
    ) -> [(index: Int, slice: BufferSlice, buffer: VulkanBuffer)] {
      indices.sorted().compactMap { index in
        guard let buffer = slices[index].buffer as? VulkanBuffer, slices[index].byteCount > 0, needsCopy(buffer) else {
          return nil
        }
        return (index, slices[index], buffer)
      }
    }
    let written = values(bindings.hostInputs, bindings.inputs) { $0.allocation.pointer == nil }
    let read = values(bindings.hostOutputs, bindings.outputs) { $0.hostPointer == nil }
    var byteCount = 0
    let offsets = (written + read).map { value in
      defer { byteCount += (value.slice.byteCount + bufferAlignment - 1) / bufferAlignment * bufferAlignment }
      return byteCount
    }
    guard byteCount > 0 else { return }
    let host = try VulkanBuffer.staging(context, byteCount: byteCount)
    for (value, offset) in zip(written + read, offsets) {
      let slice = BufferSlice(host, offset: offset, byteCount: value.slice.byteCount)
      let (own, size) = (VkDeviceSize(value.slice.offset), VkDeviceSize(value.slice.byteCount))
      if uploads.count < written.count {
        inputs[value.index] = slice
        let region = VkBufferCopy(srcOffset: VkDeviceSize(offset), dstOffset: own, size: size)
        uploads.append(Copy(source: host.allocation, target: value.buffer.allocation, region: region))
      } else {
        outputs[value.index] = slice
        let region = VkBufferCopy(srcOffset: own, dstOffset: VkDeviceSize(offset), size: size)
        downloads.append(Copy(source: value.buffer.allocation, target: host.allocation, region: region))
      }
    }
  }

  func record(_ copies: [Copy], _ buffer: VkCommandBuffer) {
    for copy in copies {
      var region = copy.region
      context.vk.vkCmdCopyBuffer!(buffer, copy.source.buffer, copy.target.buffer, 1, &region)
    }
  }
}
