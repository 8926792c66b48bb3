import KelvinBasics
package import KelvinGraph

/// The host memory available to this process.
package enum HostMemory {
  /// The limit in bytes: the machine's memory, or less if a container or the process has a limit (`ulimit -v`).
  package static var limit: Int { MachineMemory().total }

  /// Rejects tensors that cannot fit, before they are allocated.
  ///
  /// - Throws: `outOfMemory` with the required and available memory.
  package static func check(_ types: [TensorType], _ place: String) throws(DeviceError) {
    let needed = types.reduce(0) { $0 + $1.byteCount }
    guard needed > limit else { return }
    throw DeviceError(
      .outOfMemory, device: "host", place: place,
      reason: "they need \(needed >> 20) MiB, there are \(limit >> 20) MiB; use smaller input shapes")
  }
}
