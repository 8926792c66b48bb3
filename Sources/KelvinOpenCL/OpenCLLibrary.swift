internal import CKelvinSupport
internal import KelvinDevices

/// The OpenCL loader, opened at run time and kept until the process ends.
final class OpenCLLibrary: @unchecked Sendable {
  /// The functions, read-only after initialization.
  private let table: UnsafeMutablePointer<kelvin_opencl>

  var functions: kelvin_opencl { table.pointee }

  /// - Parameters:
  ///   - path: a file name for the dynamic loader.
  ///   - find: the address of a `kelvin_find` that replaces the dynamic loader.
  /// - Throws: `DeviceError` with the loader's message.
  init(path: String, find: UnsafeRawPointer? = nil) throws(DeviceError) {
    let table = UnsafeMutablePointer<kelvin_opencl>.allocate(capacity: 1)
    if let reason = kelvin_opencl_open(path, unsafeBitCast(find, to: kelvin_find?.self), table) {
      table.deallocate()
      throw DeviceError(.unavailable, device: "opencl", place: path, reason: String(cString: reason))
    }
    self.table = table
  }

  /// Returns the ids of all platforms; empty if no driver is installed.
  func platforms() -> [cl_platform_id] {
    var count: cl_uint = 0
    guard functions.clGetPlatformIDs(0, nil, &count) == CL_SUCCESS, count > 0 else { return [] }
    var ids = [cl_platform_id?](repeating: nil, count: Int(count))
    guard functions.clGetPlatformIDs(count, &ids, nil) == CL_SUCCESS else { return [] }
    return ids.compactMap { $0 }
  }

  func devices(of platform: cl_platform_id) -> [cl_device_id] {
    let all = cl_device_type(0xFFFF_FFFF)
    var count: cl_uint = 0
    guard functions.clGetDeviceIDs(platform, all, 0, nil, &count) == CL_SUCCESS, count > 0 else { return [] }
    var ids = [cl_device_id?](repeating: nil, count: Int(count))
    guard functions.clGetDeviceIDs(platform, all, count, &ids, nil) == CL_SUCCESS else { return [] }
    return ids.compactMap { $0 }
  }

  func text(ofPlatform platform: cl_platform_id, _ name: Int32) -> String {
    text { functions.clGetPlatformInfo(platform, cl_platform_info(name), $0, $1, $2) }
  }

  func text(of device: cl_device_id, _ name: Int32) -> String {
    text { functions.clGetDeviceInfo(device, cl_device_info(name), $0, $1, $2) }
  }

  /// Returns a number or fixed block of bytes that a device reports, or nil if the device does not know the query.
  func value<Value: BitwiseCopyable>(of device: cl_device_id, _ name: Int32, _ initial: Value) -> Value? {
    var value = initial
    let status = functions.clGetDeviceInfo(device, cl_device_info(name), MemoryLayout<Value>.size, &value, nil)
    return status == CL_SUCCESS ? value : nil
  }

  private func text(_ query: (Int, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?) -> cl_int) -> String {
    var count = 0
    guard query(0, nil, &count) == CL_SUCCESS, count > 0, count < 1 << 20 else { return "" }
    var bytes = [UInt8](repeating: 0, count: count)
    guard query(count, &bytes, nil) == CL_SUCCESS else { return "" }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
