import Glibc
package import KelvinGraph

/// The host memory available to this process.
package enum HostMemory {
  /// The limit in bytes: the machine's memory, or less if the process has a limit (`ulimit -v`, `ulimit -d`).
  package static var limit: Int {
    let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    return [RLIMIT_AS, RLIMIT_DATA].reduce(physical) { least, resource in
      var bounds = rlimit()
      guard getrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 else { return least }
      return min(least, Int(clamping: bounds.rlim_cur))
    }
  }

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
