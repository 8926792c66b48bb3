internal import CKelvinDrivers
internal import CKelvinShaders
internal import KelvinDevices
internal import KelvinGraph
internal import Synchronization

/// A kernel: the source file it is in, the macros that make its variant, and its function.
struct KernelName: Hashable, Sendable {
  var file: String
  var defines: [String] = []
  var function: String
}

/// The programs of one device, each built when it is first needed and kept as a binary in the segment's `BlobCache`.
final class ProgramLibrary: @unchecked Sendable {
  private let library: OpenCLLibrary
  private let context: cl_context
  private let device: cl_device_id
  private let deviceID: String
  private let options: String
  /// Names device, driver and their versions in blob keys.
  private let identity: String
  private let programs = Mutex<[KernelName: ProgramHandle]>([:])

  private struct ProgramHandle: @unchecked Sendable { let program: cl_program }

  init(
    library: OpenCLLibrary, context: cl_context, device: cl_device_id, deviceID: String, identity: String,
    options: String
  ) {
    self.library = library
    self.context = context
    self.device = device
    self.deviceID = deviceID
    self.identity = identity
    self.options = options
  }

  /// Ends the life of all programs; nothing may be asked for afterwards.
  func release() {
    programs.withLock { programs in
      for handle in programs.values { _ = library.functions.clReleaseProgram(handle.program) }
      programs = [:]
    }
  }

  /// A new kernel object, whose arguments are the caller's to set.
  func makeKernel(_ name: KernelName, blobs: any BlobCache) throws(DeviceError) -> cl_kernel {
    let program = try program(of: name, blobs: blobs)
    var status: cl_int = CL_SUCCESS
    guard let kernel = library.functions.clCreateKernel(program, name.function, &status), status == CL_SUCCESS else {
      throw DeviceError(device: deviceID, place: "kernel \(name.function)", call: "clCreateKernel", status: status)
    }
    return kernel
  }

  /// Makes sure that the program of a kernel is built.
  func prepare(_ name: KernelName, blobs: any BlobCache) throws(DeviceError) { _ = try program(of: name, blobs: blobs) }

  private func program(of name: KernelName, blobs: any BlobCache) throws(DeviceError) -> cl_program {
    let key = KernelName(file: name.file, defines: name.defines, function: "")
    if let known = programs.withLock({ $0[key]?.program }) { return known }
    let text = try source("prelude") + source(name.file)
    let options = ([options] + name.defines.map { "-D\($0)" }).joined(separator: " ")
    let digest = Digest("\(identity)\n\(options)\n\(text)")
    let blobKey = "opencl/\(name.file)-\(digest)"
    let built: cl_program
    if let blob = blobs.blob(blobKey), let restored = restore(ProgramBlob.binary(of: blob, digest), options) {
      built = restored
    } else {
      built = try build(text, options, name)
      if let binary = binary(of: built) {
        let blob = ProgramBlob.encode(binary, digest)
        blob.withUnsafeBytes { blobs.store(blobKey, $0) }
      }
    }
    let handle = ProgramHandle(program: built)
    let kept = programs.withLock { programs in
      if let first = programs[key] { return first }
      programs[key] = handle
      return handle
    }
    if kept.program != built { _ = library.functions.clReleaseProgram(built) }
    return kept.program
  }

  private func source(_ name: String) throws(DeviceError) -> String {
    guard let text = kelvin_opencl_source(name) else {
      throw DeviceError(.compilation, device: deviceID, place: "kernels '\(name)'", reason: "there is no such source")
    }
    return String(cString: text)
  }

  private func build(_ text: String, _ options: String, _ name: KernelName) throws(DeviceError) -> cl_program {
    let place = "kernels '\(name.file)'"
    var status: cl_int = CL_SUCCESS
    let created = text.withCString { text in
      var line: UnsafePointer<CChar>? = text
      return library.functions.clCreateProgramWithSource(context, 1, &line, nil, &status)
    }
    guard let created, status == CL_SUCCESS else {
      throw DeviceError(device: deviceID, place: place, call: "clCreateProgramWithSource", status: status)
    }
    var ids: [cl_device_id?] = [device]
    status = library.functions.clBuildProgram(created, 1, &ids, options, nil, nil)
    guard status == CL_SUCCESS else {
      let log = buildLog(of: created)
      _ = library.functions.clReleaseProgram(created)
      throw DeviceError(
        .compilation, device: deviceID, place: place,
        reason: "clBuildProgram failed: \(statusName(status)) with \(options)\n\(log)")
    }
    return created
  }

  /// The program of a binary, or nil where the driver does not take it.
  private func restore(_ binary: [UInt8]?, _ options: String) -> cl_program? {
    guard let binary else { return nil }
    var ids: [cl_device_id?] = [device]
    var status: cl_int = CL_SUCCESS
    let created = binary.withUnsafeBufferPointer { bytes in
      var base = bytes.baseAddress
      var count = bytes.count
      var binaryStatus: cl_int = CL_SUCCESS
      return library.functions.clCreateProgramWithBinary(context, 1, &ids, &count, &base, &binaryStatus, &status)
    }
    guard let created else { return nil }
    if status == CL_SUCCESS {
      status = library.functions.clBuildProgram(created, 1, &ids, options, nil, nil)
      if status == CL_SUCCESS { return created }
    }
    _ = library.functions.clReleaseProgram(created)
    return nil
  }

  private func binary(of program: cl_program) -> [UInt8]? {
    let functions = library.functions
    var count = 0
    let sizes = cl_program_info(CL_PROGRAM_BINARY_SIZES)
    guard functions.clGetProgramInfo(program, sizes, MemoryLayout<Int>.size, &count, nil) == CL_SUCCESS,
      count > 0, count < 1 << 30
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let status = bytes.withUnsafeMutableBufferPointer { bytes in
      var base = bytes.baseAddress
      let binaries = cl_program_info(CL_PROGRAM_BINARIES)
      return functions.clGetProgramInfo(program, binaries, MemoryLayout.size(ofValue: base), &base, nil)
    }
    return status == CL_SUCCESS ? bytes : nil
  }

  private func buildLog(of program: cl_program) -> String {
    let query = cl_program_build_info(CL_PROGRAM_BUILD_LOG)
    var count = 0
    guard library.functions.clGetProgramBuildInfo(program, device, query, 0, nil, &count) == CL_SUCCESS, count > 0 else {
      return "no build log"
    }
    var bytes = [UInt8](repeating: 0, count: min(count, 1 << 20))
    guard library.functions.clGetProgramBuildInfo(program, device, query, bytes.count, &bytes, nil) == CL_SUCCESS else {
      return "no build log"
    }
    return String(decoding: bytes.prefix { $0 != 0 }.prefix(4000), as: UTF8.self)
  }
}
