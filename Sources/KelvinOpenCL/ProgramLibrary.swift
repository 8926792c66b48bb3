internal import CKelvinSupport
internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph
internal import Synchronization

/// The programs of one device. Each is built when it is first needed, and its binary is kept in the segment's
/// `BlobCache` unless the driver caches compiled code itself.
final class ProgramLibrary: Sendable {
  /// The device, the driver and their versions, as part of blob keys.
  private let identity: String
  private let number: ContextPrefix
  private let keepsBinaries: Bool
  private let programs = DeviceLock<[KernelName: OpenCLProgram]>([:])

  init(identity: String, number: ContextPrefix, keepsBinaries: Bool) {
    self.identity = identity
    self.number = number
    self.keepsBinaries = keepsBinaries
  }

  /// Builds the programs of a segment and runs each kernel once, so that no later run waits for a compiler.
  func prepare(
    _ segment: LoweredSegment<OpenCLTarget>, on device: OpenCLDevice, blobs: any BlobCache
  ) throws(DeviceError) {
    // The programs are in the order of their first uses, so that a driver sees the same order on every run.
    let programs = Dictionary(grouping: segment.dispatches.indices) { Self.key(segment.dispatches[$0].call.program) }
      .sorted { $0.value[0] < $1.value[0] }
    let blobs = keepsBinaries ? blobs : NoBlobCache()
    if !keepsBinaries { try buildTogether(programs.map(\.key), on: device) }
    for (key, uses) in programs {
      do throws(DeviceError) {
        try prepare(key, uses.map { segment.dispatches[$0] }, on: device, blobs: blobs)
      } catch {
        throw error.compiling(uses.map { segment.nodes[$0] })
      }
    }
  }

  /// Builds the new programs as few joined programs. If a joined program does not compile, its parts are built alone,
  /// so that the error names the failing part.
  private func buildTogether(_ keys: [KernelName], on device: OpenCLDevice) throws(DeviceError) {
    try programs.withLock(device.health) { (programs) throws(DeviceError) in
      for group in KernelName.joined(keys.filter { programs[$0] == nil }) where group.count > 1 {
        guard let text = joinedSource(group) else { continue }
        let options = ([device.tuning.options] + (number.definition.map { [$0] } ?? [])).joined(separator: " ")
        do throws(DeviceError) {
          let name = group.map(\.program).joined(separator: ", ")
          let program = try OpenCLProgram.build(text, options: options, name: name, on: device)
          for key in group { programs[key] = program }
        } catch {
          if error.isOfDevice { throw error }
        }
      }
    }
  }

  private func prepare(
    _ key: KernelName, _ users: [Dispatch<KernelName>], on device: OpenCLDevice, blobs: any BlobCache
  ) throws(DeviceError) {
    try programs.withLock(device.health) { (programs) throws(DeviceError) in
      let functions = users.map(\.call.program.function)
      if let known = programs[key], functions.allSatisfy({ known.rehearsed.contains($0) }) { return }
      let recipe = try recipe(key, device)
      let program: OpenCLProgram
      if let known = programs[key] {
        program = known
      } else if let restored = try restore(recipe, on: device, blobs: blobs) {
        program = restored
      } else {
        program = try .build(recipe.text, options: recipe.options, name: key.program, on: device)
      }
      programs[key] = program
      var isNew = false
      for dispatch in users where !program.rehearsed.contains(dispatch.call.program.function) {
        try rehearse(dispatch, program, on: device)
        program.rehearsed.insert(dispatch.call.program.function)
        isNew = true
      }
      if isNew, !(blobs is NoBlobCache), let binary = program.binary() {
        let blob = ProgramBlob(rehearsed: program.rehearsed.sorted(), binary: binary)
        try DriverThread.pausing { () throws(DeviceError) in
          blob.encoded(origin: recipe.digest).withUnsafeBytes { blobs.store(recipe.blobKey, $0) }
        }
      }
    }
  }

  /// Returns the number of built programs; a joined program counts once.
  func count(_ health: DeviceHealth) throws(DeviceError) -> Int {
    try programs.withLock(health) { (programs) throws(DeviceError) in
      Set(programs.values.map(ObjectIdentifier.init)).count
    }
  }

  /// Returns a new kernel object of a program that `prepare` has built.
  func makeKernel(_ name: KernelName, on device: OpenCLDevice) throws(DeviceError) -> cl_kernel {
    let known = try programs.withLock(device.health) { (programs) throws(DeviceError) in programs[Self.key(name)] }
    guard let program = known else {
      throw DeviceError(
        .compilation, device: device.info.id, place: "kernel \(name.function)", reason: "it was never built")
    }
    return try program.makeKernel(name.function, on: device)
  }

  /// Releases all programs. The library must not be used afterwards.
  func release(_ health: DeviceHealth) {
    try? programs.withLock(health) { (programs) throws(DeviceError) in programs = [:] }
  }

  private struct Recipe {
    var text: String
    var options: String
    var digest: Digest
    var blobKey: String
  }

  private static func key(_ name: KernelName) -> KernelName {
    KernelName(program: name.program, defines: name.defines, halves: name.halves, function: "")
  }

  private func recipe(_ key: KernelName, _ device: OpenCLDevice) throws(DeviceError) -> Recipe {
    guard let text = programSource(key.program) else {
      throw DeviceError(
        .compilation, device: device.info.id, place: "program '\(key.program)'", reason: "no source has this name")
    }
    let macros = key.defines + (key.halves.map { [$0.define] } ?? [])
    let definitions = macros.map { "-D\($0)" } + (number.definition.map { [$0] } ?? [])
    let options = ([device.tuning.options] + definitions).joined(separator: " ")
    let digest = Digest("\(identity)\n\(options)\n\(text)")
    return Recipe(text: text, options: options, digest: digest, blobKey: "opencl/\(key.program)-\(digest)")
  }

  private func restore(
    _ recipe: Recipe, on device: OpenCLDevice, blobs: any BlobCache
  ) throws(DeviceError) -> OpenCLProgram? {
    let blob = try DriverThread.pausing { () throws(DeviceError) in
      blobs.blob(recipe.blobKey).flatMap { ProgramBlob($0, origin: recipe.digest) }
    }
    return blob.flatMap { OpenCLProgram.restore($0, options: recipe.options, on: device) }
  }

  /// Runs one work group on a tensor of zeros with all sizes one. PoCL compiles a kernel for its group size at the
  /// first run, and other drivers defer work to it too. The tensor starts in the middle of the memory, because a kernel
  /// for quantized weights may read before the tensor when sizes are one.
  private func rehearse(
    _ dispatch: Dispatch<KernelName>, _ program: OpenCLProgram, on device: OpenCLDevice
  ) throws(DeviceError) {
    let functions = device.library.functions
    let kernel = try program.makeKernel(dispatch.call.program.function, on: device)
    defer { if device.health.mayFree { _ = functions.clReleaseKernel(kernel) } }
    try checkGroup(of: kernel, dispatch.call.program.function, on: device)
    let zeros = try OpenCLBuffer.make(device, byteCount: 1 << 16, isShared: device.memoryModel == .host)
    // A device's own memory is not initialized.
    try Bytes([UInt8](repeating: 0, count: zeros.byteCount)).withUnsafeBytes { bytes throws(DeviceError) in
      try zeros.write(bytes, at: 0)
    }
    try setArguments(
      of: kernel, memory: dispatch.storages.map { _ in (zeros.memory, UInt32(zeros.byteCount / 2 / bufferAlignment)) },
      constants: dispatch.call.parameters.map { _ in 1 }, name: dispatch.call.program.function, device)
    let piece = DispatchSlice(whole: 0, grid: [device.tuning.group, 1, 1])
    let (call, place) = ("clEnqueueNDRangeKernel", "kernel \(dispatch.call.program.function)")
    try device.completing(call, mayCompile: true) { (event) throws(DeviceError) in
      try device.check(enqueue(kernel, piece, device, event), call, place)
    }
  }
}

/// - Throws: `.compilation` if a group of the kernel exceeds the device's limit. The limit depends on the registers and
///   the local memory that the compiler assigned to an item.
private func checkGroup(of kernel: cl_kernel, _ name: String, on device: OpenCLDevice) throws(DeviceError) {
  func answer<Value: BitwiseCopyable>(_ question: Int32, _ none: Value) -> Value? {
    var value = none
    let status = device.library.functions.clGetKernelWorkGroupInfo(
      kernel, device.id, cl_kernel_work_group_info(question), MemoryLayout<Value>.size, &value, nil)
    return status == CL_SUCCESS ? value : nil
  }
  func failure(_ reason: String) -> DeviceError {
    DeviceError(.compilation, device: device.info.id, place: "kernel \(name)", reason: reason)
  }
  if let items = answer(CL_KERNEL_WORK_GROUP_SIZE, 0), items < device.tuning.group {
    throw failure("the device runs work groups of \(items) of its items, \(device.tuning.group) are needed")
  }
  let memory = device.library.value(of: device.id, CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong(0)) ?? 0
  if let needed = answer(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong(0)), needed > memory {
    throw failure("it needs \(needed) bytes of local memory, the device has \(memory)")
  }
}

/// Sets every argument of a kernel: its buffers, each with the page it starts at, then its block of constants.
func setArguments(
  of kernel: cl_kernel, memory: [(memory: cl_mem, page: UInt32)], constants: [UInt32], name: String,
  _ device: OpenCLDevice
) throws(DeviceError) {
  var index: cl_uint = 0
  func set(_ size: Int, _ value: UnsafeRawPointer) throws(DeviceError) {
    let status = device.library.functions.clSetKernelArg(kernel, index, size, value)
    try device.check(status, "clSetKernelArg", "kernel \(name), argument \(index)")
    index += 1
  }
  for place in memory {
    var argument: cl_mem? = place.memory
    try set(MemoryLayout<cl_mem?>.size, &argument)
    var page = place.page
    try set(MemoryLayout<UInt32>.size, &page)
  }
  try set(constants.count * 4, constants)
}

/// Enqueues a dispatch, or a slice of one, on the device's queue.
func enqueue(
  _ kernel: cl_kernel, _ piece: DispatchSlice, _ device: OpenCLDevice, _ event: UnsafeMutablePointer<cl_event?>?
) -> cl_int {
  var local = (device.tuning.group, 1, 1)
  return withUnsafeBytes(of: &local) { local in
    device.library.functions.clEnqueueNDRangeKernel(
      device.queue, kernel, 3, piece.isPart ? piece.origin : nil, piece.grid,
      local.assumingMemoryBound(to: Int.self).baseAddress, 0, nil, event)
  }
}
