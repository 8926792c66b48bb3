internal import CKelvinSupport
package import KelvinDevices

extension OpenCLDevice {
  /// Returns every OpenCL device of the machine, numbered in the loader's order, or one row with the reason why there
  /// is none.
  ///
  /// - Parameters:
  ///   - libraryPath: the OpenCL loader to open.
  ///   - find: the address of a C function `void *find(const char *name)` that replaces the loader.
  ///   - imitation: the properties that every device imitates.
  ///   - patience: the time limit of a submission, in seconds, until `DeviceHealth.allow` changes it.
  package static func discover(
    libraryPath: String = "libOpenCL.so.1", find: UnsafeRawPointer? = nil,
    imitating imitation: OpenCLDeviceOverrides = OpenCLDeviceOverrides(),
    patience: Double = Watchdog.standard.floor
  ) -> [DeviceListing] {
    // A driver that hangs during discovery is not called again.
    let health = DeviceHealth(patience: patience)
    do throws(DeviceError) {
      return try health.guarded("opencl", "looking for devices", .compiling) { () throws(DeviceError) in
        listings(libraryPath, find, imitation, patience)
      }
    } catch {
      return [missing(error.reason)]
    }
  }

  private static func listings(
    _ libraryPath: String, _ find: UnsafeRawPointer?, _ imitation: OpenCLDeviceOverrides, _ patience: Double
  ) -> [DeviceListing] {
    let library: OpenCLLibrary
    do {
      library = try OpenCLLibrary(path: libraryPath, find: find)
    } catch {
      let remedy = "install ocl-icd-libopencl1 and the driver of the device"
      let isAbsent = kelvin_library_is_absent(error.reason)
      return [missing("no OpenCL loader (\(error.reason))" + (isAbsent ? "; \(remedy)" : ""))]
    }
    let platforms = library.platforms()
    guard !platforms.isEmpty else {
      return [missing("no OpenCL driver is installed; install the GPU's, or pocl-opencl-icd to run on the CPU")]
    }
    var listings: [DeviceListing] = []
    for platform in platforms {
      for id in library.devices(of: platform) {
        let info = describe(id, of: platform, library, index: listings.count)
        listings.append(list(id, of: platform, library, info, imitation, patience))
      }
    }
    guard !listings.isEmpty else {
      let names = platforms.map { library.text(ofPlatform: $0, CL_PLATFORM_NAME) }.joined(separator: ", ")
      return [missing("no OpenCL device: the installed drivers (\(names)) find none")]
    }
    return listings
  }

  private static func list(
    _ id: cl_device_id, of platform: cl_platform_id, _ library: OpenCLLibrary, _ info: DeviceInfo,
    _ imitation: OpenCLDeviceOverrides, _ patience: Double
  ) -> DeviceListing {
    func answersYes(_ name: Int32) -> Bool { library.value(of: id, name, cl_bool(0)) ?? 0 != 0 }
    guard !library.text(of: id, CL_DEVICE_VERSION).hasPrefix("OpenCL 1.0"),
      !library.text(of: id, CL_DEVICE_VERSION).hasPrefix("OpenCL 1.1")
    else { return DeviceListing(missing: info, reason: "\(info.version); Kelvin needs OpenCL 1.2") }
    guard answersYes(CL_DEVICE_AVAILABLE), answersYes(CL_DEVICE_COMPILER_AVAILABLE) else {
      return DeviceListing(missing: info, reason: "the driver says that the device or its compiler is not available")
    }
    guard answersYes(CL_DEVICE_ENDIAN_LITTLE) else {
      return DeviceListing(missing: info, reason: "the device is big-endian")
    }
    do {
      return DeviceListing(
        try OpenCLDevice(
          library: library, platform: platform, id: id, info: info, imitating: imitation, patience: patience))
    } catch {
      return DeviceListing(missing: info, reason: error.reason)
    }
  }

  private static func missing(_ reason: String) -> DeviceListing {
    let info = DeviceInfo(
      id: "opencl:0", name: "OpenCL", kind: .accelerator, driver: "", version: "", memory: 0, resource: "opencl:0")
    return DeviceListing(missing: info, reason: reason)
  }

  private static func describe(
    _ id: cl_device_id, of platform: cl_platform_id, _ library: OpenCLLibrary, index: Int
  ) -> DeviceInfo {
    let type = library.value(of: id, CL_DEVICE_TYPE, cl_device_type(0)) ?? 0
    func isA(_ mask: Int32) -> Bool { type & cl_device_type(mask) != 0 }
    let isUnified = library.value(of: id, CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool(0)) ?? 0 != 0
    let kind: DeviceInfo.Kind =
      if isA(CL_DEVICE_TYPE_CPU) { .software } else if isA(CL_DEVICE_TYPE_GPU) {
        isUnified ? .integratedGPU : .discreteGPU
      } else { .accelerator }
    let name = library.text(of: id, CL_DEVICE_NAME)
    return DeviceInfo(
      id: "opencl:\(index)", name: name, kind: kind,
      driver: "\(library.text(ofPlatform: platform, CL_PLATFORM_NAME)) \(library.text(of: id, CL_DRIVER_VERSION))",
      version: library.text(of: id, CL_DEVICE_VERSION),
      memory: Int(clamping: library.value(of: id, CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong(0)) ?? 0),
      resource: kind == .software ? "cpu" : uuid(of: id, library) ?? "opencl:\(index)")
  }

  /// Returns the device's UUID as 32 hexadecimal digits, if the driver has `cl_khr_device_uuid`.
  private static func uuid(of id: cl_device_id, _ library: OpenCLLibrary) -> String? {
    guard library.text(of: id, CL_DEVICE_EXTENSIONS).split(separator: " ").contains("cl_khr_device_uuid"),
      let words = library.value(of: id, 0x106A, (UInt64(0), UInt64(0)))
    else { return nil }
    return withUnsafeBytes(of: words) { bytes in
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }
}
