internal import CKelvinSupport
package import KelvinDevices
internal import KelvinGPU
package import KelvinGraph
internal import Synchronization

/// The kind of memory that a device uses for buffers.
enum MemoryModel: Sendable {
  /// The device is the CPU: buffers are host memory, which both see at all times.
  case host
  /// Device and host use the same memory in turns: buffers are mapped while no submission uses them.
  case mapped
  /// The device has its own memory.
  case separate
}

/// One OpenCL device, with one in-order queue.
package final class OpenCLDevice: KernelDevice, @unchecked Sendable {
  package let info: DeviceInfo
  package let health: DeviceHealth
  let library: OpenCLLibrary
  let id: cl_device_id
  let context: cl_context
  let queue: cl_command_queue
  let tuning: Tuning
  let memoryModel: MemoryModel
  let largestBuffer: Int
  let programs: ProgramLibrary
  let weights = WeightLibrary()
  let staging = OpenCLStaging()
  let turns: OpenCLQueueLock
  private let kernelTrust: KernelTrust
  package var trust: KernelTrust? { kernelTrust }
  /// Copies from a memory of its own, and mappings, come after all submissions in the queue.
  package var isReadWhileBusy: Bool { memoryModel == .host }
  private let kernels: GPUKernels<OpenCLTarget>

  init(
    library: OpenCLLibrary, platform: cl_platform_id, id: cl_device_id, info: DeviceInfo,
    imitating imitation: OpenCLDeviceOverrides, patience: Double
  ) throws(DeviceError) {
    health = DeviceHealth(
      patience: patience, processorTime: info.kind == .software ? DriverProcessorTime.used : nil)
    let functions = library.functions
    var status: cl_int = CL_SUCCESS
    var ids: [cl_device_id?] = [id]
    var properties: [Int] = [Int(CL_CONTEXT_PLATFORM), Int(bitPattern: platform), 0]
    guard let context = functions.clCreateContext(&properties, 1, &ids, nil, nil, &status), status == CL_SUCCESS else {
      throw DeviceError(device: info.id, place: info.name, call: "clCreateContext", status: status)
    }
    let flags = cl_command_queue_properties(CL_QUEUE_PROFILING_ENABLE)
    guard let queue = functions.clCreateCommandQueue(context, id, flags, &status), status == CL_SUCCESS else {
      _ = functions.clReleaseContext(context)
      throw DeviceError(device: info.id, place: info.name, call: "clCreateCommandQueue", status: status)
    }
    self.info = info
    self.library = library
    turns = OpenCLQueueLock(library)
    self.id = id
    self.context = context
    self.queue = queue
    let kind = imitation.kind ?? info.kind
    let sizes = library.value(of: id, CL_DEVICE_MAX_WORK_ITEM_SIZES, (Int.max, Int.max, Int.max))?.0 ?? .max
    let items = library.value(of: id, CL_DEVICE_MAX_WORK_GROUP_SIZE, Int.max) ?? .max
    let native = library.value(of: id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint(0)) ?? 0
    let width = imitation.vectorWidth ?? Int(native)
    tuning = (kind == .software ? Tuning.cpu(vectorWidth: width) : .gpu).fitting(min(sizes, items))
    let isFast = imitation.acceleratesDotProducts ?? library.acceleratesDotProducts(id)
    let usesPackedDotProducts = isFast && tuning.lanes == DotProduct.lanes
    memoryModel =
      switch kind {
      case .software: .host
      case .integratedGPU: .mapped
      case .accelerator where library.value(of: id, CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool(0)) ?? 0 != 0: .mapped
      default: .separate
      }
    largestBuffer = Int(clamping: library.value(of: id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong(0)) ?? 0)
    let identity = [
      library.text(ofPlatform: platform, CL_PLATFORM_VERSION), info.name, info.driver, info.version,
    ].joined(separator: "\n")
    let options = tuning.options
    kernelTrust = KernelTrust(
      driver: info.driver,
      identity: "opencl/\(Digest("\(identity)\n\(options)\n\(usesPackedDotProducts)\n\(sourceDigest)"))")
    var limits = TensorLimits(bytes: largestBuffer)
    limits.elements = min(limits.elements, imitation.elementLimit ?? .max)
    let target = OpenCLTarget(
      device: info.id, tuning: tuning, limits: limits, usesPackedDotProducts: usesPackedDotProducts)
    kernels = GPUKernels(target, trust: kernelTrust)
    let name = library.text(ofPlatform: platform, CL_PLATFORM_NAME)
    programs = ProgramLibrary(
      identity: identity, number: ContextPrefix(platform: name, options: options),
      keepsBinaries: name != PoCL.platform || !PoCL.keepsKernels)
  }

  deinit {
    health.freeing(info.id) { [health, turns, library, queue, programs, context] in
      turns.release()
      _ = library.functions.clReleaseCommandQueue(queue)
      programs.release(health)
      _ = library.functions.clReleaseContext(context)
    }
    if !health.mayFree { LeakedResources.keep((staging, programs, turns)) }
  }

  /// Returns the number of programs built so far.
  package func programCount() throws(DeviceError) -> Int { try programs.count(health) }

  package var kernelFamily: any KernelFamily { kernels }

  package func packedByteCounts(of node: Node, in graph: Graph, precision: Precision) -> [String: Int]? {
    kernels.packedByteCounts(of: node, in: graph, precision: precision)
  }

  /// Returns the kernels that a segment uses, each as its program and its function.
  package func functions(of segment: Segment) throws(DeviceError) -> Set<String> {
    Set(try kernels.lower(segment).0.dispatches.map { "\($0.call.program.program) \($0.call.program.function)" })
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    try health.check()
    health.allow(segment.limit)
    return try health.guarded(info.id, "compilation", .compiling) { [self] () throws(DeviceError) in
      let (lowered, packing) = try kernels.lower(segment)
      let buffers = try weightBuffers(packing, of: segment) { [self] () throws(DeviceError) in
        try programs.prepare(lowered, on: self, blobs: segment.blobs)
      }
      return OpenCLExecutable(self, lowered, buffers, segment)
    }
  }

  /// - Parameter prepare: builds the programs. It runs in parallel with the packing if weights only have to be packed.
  ///   Buffers are created afterwards, because PoCL's compiler may crash if buffers are created meanwhile.
  private func weightBuffers(
    _ packing: SegmentPacking, of segment: Segment, _ prepare: @escaping @Sendable () throws(DeviceError) -> Void
  ) throws(DeviceError) -> [WeightBuffer] {
    func pack(_ weight: WeightPacking) throws(DeviceError) -> WeightLibrary.Packed {
      try weights.packed(weight, in: segment.weights, on: self)
    }
    if memoryModel == .separate {
      let buffers = try packing.packed { (weight) throws(DeviceError) in
        try weights.buffer(pack(weight), on: self)
      }
      segment.didPack()
      try prepare()
      return buffers
    }
    let (_, packed) = try health.beside(
      info.id, "programs", .compiling, prepare,
      while: { () throws(DeviceError) in
        let packed = try packing.packed(pack)
        segment.didPack()
        return packed
      })
    return try packed.map { (weight) throws(DeviceError) in try weights.buffer(weight, on: self) }
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    try OpenCLBuffer.make(self, byteCount: byteCount, isShared: memoryModel != .separate)
  }

  /// Scratch is host memory only on the CPU. Memory that is used in turns would have to be unmapped at each submission.
  package func makeScratch(byteCount: Int) throws(DeviceError) -> any Buffer {
    try OpenCLBuffer.make(self, byteCount: byteCount, isShared: memoryModel == .host)
  }
}
