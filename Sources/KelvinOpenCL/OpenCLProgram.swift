internal import CKelvinSupport
internal import KelvinDevices

/// A built program.
final class OpenCLProgram: @unchecked Sendable {
  /// Kernels that have run at least once, here or in the process that stored the binary. A driver may defer a kernel's
  /// compilation to its first run, and then add the result to the binary.
  var rehearsed: Set<String>
  private let library: OpenCLLibrary
  private let program: cl_program
  private let health: DeviceHealth
  private let device: String

  private init(_ device: OpenCLDevice, _ program: cl_program, rehearsed: Set<String>) {
    library = device.library
    health = device.health
    self.device = device.info.id
    self.program = program
    self.rehearsed = rehearsed
  }

  deinit {
    health.freeing(device) { [library, program] in _ = library.functions.clReleaseProgram(program) }
  }

  /// Compiles source code.
  ///
  /// - Throws: `DeviceError` with the driver's build log.
  static func build(
    _ text: String, options: String, name: String, on device: OpenCLDevice
  ) throws(DeviceError) -> OpenCLProgram {
    let functions = device.library.functions
    let place = "program '\(name)'"
    var status: cl_int = CL_SUCCESS
    let created = text.withCString { text in
      var line: UnsafePointer<CChar>? = text
      return functions.clCreateProgramWithSource(device.context, 1, &line, nil, &status)
    }
    try device.check(status, "clCreateProgramWithSource", place)
    guard let created else { throw device.nothing(from: "clCreateProgramWithSource", place) }
    let program = OpenCLProgram(device, created, rehearsed: [])
    var ids: [cl_device_id?] = [device.id]
    status = functions.clBuildProgram(created, 1, &ids, options, nil, nil)
    DriverThread.beat()
    guard status == CL_SUCCESS else {
      let failure = DeviceError(device: device.info.id, place: place, call: "clBuildProgram", status: status)
      if failure.isOfDevice { try device.check(status, "clBuildProgram", place) }
      throw DeviceError(
        .compilation, device: device.info.id, place: place,
        reason: "clBuildProgram failed: \(statusName(status)) with \(options)\n\(program.buildLog(on: device))")
    }
    return program
  }

  /// Returns the program of a binary, or nil if the driver rejects it.
  static func restore(_ blob: ProgramBlob, options: String, on device: OpenCLDevice) -> OpenCLProgram? {
    let functions = device.library.functions
    var ids: [cl_device_id?] = [device.id]
    var status: cl_int = CL_SUCCESS
    let created = blob.binary.withUnsafeBufferPointer { bytes in
      var base = bytes.baseAddress
      var count = bytes.count
      var binaryStatus: cl_int = CL_SUCCESS
      return functions.clCreateProgramWithBinary(device.context, 1, &ids, &count, &base, &binaryStatus, &status)
    }
    guard let created else { return nil }
    DriverThread.beat()
    let program = OpenCLProgram(device, created, rehearsed: Set(blob.rehearsed))
    guard status == CL_SUCCESS, functions.clBuildProgram(created, 1, &ids, options, nil, nil) == CL_SUCCESS else {
      return nil
    }
    return program
  }

  /// Returns a new kernel object, whose arguments the caller sets.
  func makeKernel(_ function: String, on device: OpenCLDevice) throws(DeviceError) -> cl_kernel {
    var status: cl_int = CL_SUCCESS
    let kernel = library.functions.clCreateKernel(program, function, &status)
    try device.check(status, "clCreateKernel", "kernel \(function)")
    guard let kernel else { throw device.nothing(from: "clCreateKernel", "kernel \(function)") }
    return kernel
  }

  /// Returns the driver's binary of the program, or nil if there is none.
  func binary() -> [UInt8]? {
    var count = 0
    let sizes = cl_program_info(CL_PROGRAM_BINARY_SIZES)
    guard library.functions.clGetProgramInfo(program, sizes, MemoryLayout<Int>.size, &count, nil) == CL_SUCCESS,
      count > 0, count < 1 << 30
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let status = bytes.withUnsafeMutableBufferPointer { bytes in
      var base = bytes.baseAddress
      let binaries = cl_program_info(CL_PROGRAM_BINARIES)
      return library.functions.clGetProgramInfo(program, binaries, MemoryLayout.size(ofValue: base), &base, nil)
    }
    return status == CL_SUCCESS ? bytes : nil
  }

  private func buildLog(on device: OpenCLDevice) -> String {
    let query = cl_program_build_info(CL_PROGRAM_BUILD_LOG)
    let functions = library.functions
    var count = 0
    guard functions.clGetProgramBuildInfo(program, device.id, query, 0, nil, &count) == CL_SUCCESS,
      (1..<1 << 24).contains(count)
    else { return "no build log" }
    var bytes = [UInt8](repeating: 0, count: count)
    guard functions.clGetProgramBuildInfo(program, device.id, query, count, &bytes, nil) == CL_SUCCESS else {
      return "no build log"
    }
    return String(decoding: bytes.prefix { $0 != 0 }.prefix(4000), as: UTF8.self)
  }
}
