internal import CKelvinSupport
package import KelvinDevices
internal import KelvinGPU
internal import Synchronization

/// Kernel objects with all arguments set, which each submission enqueues.
package final class OpenCLInvocation: Invocation {
  package var completion: any Event { event }
  private let executable: OpenCLExecutable
  private let event: OpenCLEvent
  private let kernels: [cl_kernel]
  /// For each dispatch, whether it would copy memory to itself.
  private let isIdle: [Bool]
  private let measuresNodes: Bool
  /// The events of the slices of each dispatch.
  private var profile: [[DriverEvent]]
  /// The bindings, which keep the bound buffers alive.
  private let bindings: Bindings
  /// The bound buffers that host and device use in turns.
  private let shared: [OpenCLBuffer]

  init(_ executable: OpenCLExecutable, _ bindings: Bindings) throws(DeviceError) {
    try executable.device.health.check()
    self.executable = executable
    self.bindings = bindings
    measuresNodes = bindings.measuresNodes
    event = OpenCLEvent(executable)
    profile = measuresNodes ? Array(repeating: [], count: executable.lowered.dispatches.count) : []
    let slices = bindings.inputs + bindings.outputs + (bindings.scratch.map { [$0] } ?? [])
    var shared: [ObjectIdentifier: OpenCLBuffer] = [:]
    for case let buffer as OpenCLBuffer in slices.map(\.buffer) where buffer.changesHands {
      shared[ObjectIdentifier(buffer)] = buffer
    }
    self.shared = Array(shared.values)
    var kernels: [cl_kernel] = []
    var isIdle: [Bool] = []
    do throws(DeviceError) {
      for dispatch in executable.lowered.dispatches {
        let call = dispatch.call
        let kernel = try executable.device.programs.makeKernel(call.program, on: executable.device)
        kernels.append(kernel)
        let memory = try dispatch.storages.map { (storage) throws(DeviceError) in
          try executable.memory(storage, bindings)
        }
        isIdle.append(dispatch.isIdentity && memory[0] == memory[1])
        try setArguments(
          of: kernel, memory: memory, constants: call.parameters, name: call.program.function, executable.device)
      }
    } catch {
      Self.release(kernels, executable.device)
      throw error
    }
    self.kernels = kernels
    self.isIdle = isIdle
  }

  deinit {
    // The buffers may be host memory, which is freed with the bindings.
    try? event.wait()
    Self.release(kernels, executable.device)
  }

  private static func release(_ kernels: [cl_kernel], _ device: OpenCLDevice) {
    device.health.freeing(device.info.id) { [library = device.library] in
      for kernel in kernels {
        _ = library.functions.clReleaseKernel(kernel)
        DriverThread.beat()
      }
    }
  }

  package func submit() throws(DeviceError) {
    let device = executable.device
    try device.health.check()
    let kind: DriverCallKind = executable.hasRun.load(ordering: .relaxed) ? .short : .compiling
    try device.health.guarded(device.info.id, "submission", kind) { [self] () throws(DeviceError) in
      try submit(device)
    }
  }

  private func submit(_ device: OpenCLDevice) throws(DeviceError) {
    // Buffers are mapped again after any failure, because `hostPointer` is valid only while they are mapped.
    var unmapped = 0
    do throws(DeviceError) {
      try device.inTurn { () throws(DeviceError) in try enqueueAll(unmapping: &unmapped) }
    } catch {
      // Commands enqueued before the failure still use the buffers. If waiting for them fails, the device is disabled.
      try device.drain()
      for buffer in shared[..<unmapped] { try buffer.mapAndWait() }
      throw error
    }
  }

  /// - Parameter unmapped: the number of shared buffers that were unmapped, also set if an error is thrown.
  private func enqueueAll(unmapping unmapped: inout Int) throws(DeviceError) {
    let device = executable.device
    for buffer in shared {
      try buffer.unmap()
      unmapped += 1
    }
    try enqueueKernels()
    while unmapped > 0 {
      var finished: cl_event?
      try unmapped == 1 ? shared[0].map(&finished) : shared[unmapped - 1].map(nil)
      unmapped -= 1
      if let finished { event.hold(DriverEvent(finished, device)) }
    }
    try device.check(device.library.functions.clFlush(device.queue), "clFlush", "queue")
  }

  private func enqueueKernels() throws(DeviceError) {
    let device = executable.device
    let functions = device.library.functions
    if measuresNodes { profile = profile.map { _ in [] } }
    for (number, pieces) in executable.submissions.enumerated() {
      for (position, piece) in pieces.enumerated() {
        let isLast = position == pieces.count - 1 && number == executable.submissions.count - 1
        // The last kernel signals the end.
        if isIdle[piece.dispatch], !isLast { continue }
        var finished: cl_event?
        let status =
          measuresNodes || isLast
          ? enqueue(kernels[piece.dispatch], piece, device, &finished)
          : enqueue(kernels[piece.dispatch], piece, device, nil)
        let function = executable.lowered.dispatches[piece.dispatch].call.program.function
        try device.check(
          status, "clEnqueueNDRangeKernel", "node '\(executable.lowered.nodes[piece.dispatch])', kernel \(function)")
        guard let ending = finished.map({ DriverEvent($0, device) }) else { continue }
        if measuresNodes { profile[piece.dispatch].append(ending) }
        if isLast { event.hold(ending) }
      }
      // The flush ends a submission; otherwise a driver may combine its commands with the next ones.
      if number < executable.submissions.count - 1 {
        try device.check(functions.clFlush(device.queue), "clFlush", "queue")
      }
    }
  }

  package var nodeTimings: [NodeTiming] {
    guard measuresNodes else { return [] }
    let device = executable.device
    return (try? device.health.guarded(device.info.id, "times of nodes") { [self] in timings() }) ?? []
  }

  private func timings() -> [NodeTiming] {
    let functions = executable.device.library.functions
    func time(_ event: DriverEvent, _ moment: Int32) -> Double? {
      var nanoseconds: cl_ulong = 0
      let query = cl_profiling_info(moment)
      let status = functions.clGetEventProfilingInfo(
        event.handle, query, MemoryLayout<cl_ulong>.size, &nanoseconds, nil)
      return status == CL_SUCCESS ? Double(nanoseconds) * 1e-9 : nil
    }
    var timings: [NodeTiming] = []
    var positions: [String: Int] = [:]
    var origin: Double?
    for (index, events) in profile.enumerated() {
      guard let first = events.first, let last = events.last, let start = time(first, CL_PROFILING_COMMAND_START),
        let end = time(last, CL_PROFILING_COMMAND_END)
      else { continue }
      let begin = origin ?? time(first, CL_PROFILING_COMMAND_SUBMIT) ?? start
      origin = begin
      let node = executable.lowered.nodes[index]
      if let position = positions[node] {
        timings[position].seconds += end - start
      } else {
        positions[node] = timings.count
        timings.append(NodeTiming(node: node, start: start - begin, seconds: end - start, clock: .device))
      }
    }
    return timings
  }
}
