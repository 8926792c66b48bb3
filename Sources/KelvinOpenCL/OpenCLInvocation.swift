internal import CKelvinDrivers
package import KelvinDevices
internal import KelvinGPU
internal import Synchronization

/// Kernel objects with all arguments set; submitting enqueues them.
package final class OpenCLInvocation: Invocation {
  package var completion: any Event { event }
  private let executable: OpenCLExecutable
  private let event: OpenCLEvent
  private let kernels: [cl_kernel]
  private let measuresNodes: Bool
  private var profile: [cl_event?]
  /// Keeps the bound buffers alive.
  private let bindings: Bindings
  /// The bound buffers that host and device use in turns.
  private let shared: [OpenCLBuffer]

  init(_ executable: OpenCLExecutable, _ bindings: Bindings) throws(DeviceError) {
    self.executable = executable
    self.bindings = bindings
    measuresNodes = bindings.measuresNodes
    event = OpenCLEvent(executable.device)
    profile = measuresNodes ? Array(repeating: nil, count: executable.lowered.dispatches.count) : []
    let slices = bindings.inputs + bindings.outputs + (bindings.scratch.map { [$0] } ?? [])
    var shared: [ObjectIdentifier: OpenCLBuffer] = [:]
    for case let buffer as OpenCLBuffer in slices.map(\.buffer) where executable.device.memoryModel == .mapped {
      shared[ObjectIdentifier(buffer)] = buffer
    }
    self.shared = Array(shared.values)
    var kernels: [cl_kernel] = []
    do throws(DeviceError) {
      for dispatch in executable.lowered.dispatches {
        let call = dispatch.call
        let kernel = try executable.device.programs.makeKernel(call.program, device: executable.device.info.id)
        kernels.append(kernel)
        let memory = try dispatch.storages.map { (storage) throws(DeviceError) in
          try executable.memory(storage, bindings)
        }
        try setArguments(
          of: kernel, memory: memory, constants: call.parameters, name: call.program.function, executable.device)
      }
    } catch {
      for kernel in kernels { _ = executable.device.library.functions.clReleaseKernel(kernel) }
      throw error
    }
    self.kernels = kernels
  }

  deinit {
    // The buffers may be host memory, freed with the bindings.
    try? event.wait()
    let functions = executable.device.library.functions
    for kernel in kernels { _ = functions.clReleaseKernel(kernel) }
    for case let event? in profile { _ = functions.clReleaseEvent(event) }
  }

  package func submit(after events: [any Event]) throws(DeviceError) {
    let device = executable.device
    for other in events {
      if let own = other as? OpenCLEvent, own.device === device { continue }
      try other.wait()
    }
    // Buffers are the host's again whatever fails: `hostPointer` is valid only while they are mapped.
    var unmapped = 0
    do throws(DeviceError) {
      for buffer in shared {
        try buffer.unmap()
        unmapped += 1
      }
      try enqueueKernels()
      while unmapped > 0 {
        var finished: cl_event?
        try unmapped == 1
          ? shared[0].map(blocking: false, &finished) : shared[unmapped - 1].map(blocking: false, nil)
        unmapped -= 1
        if let finished { event.hold(finished, retains: false) }
      }
      let status = device.library.functions.clFlush(device.queue)
      guard status == CL_SUCCESS else {
        throw DeviceError(device: device.info.id, place: "queue", call: "clFlush", status: status)
      }
    } catch {
      _ = device.library.functions.clFinish(device.queue)
      for buffer in shared[..<unmapped] { try? buffer.map(blocking: true, nil) }
      throw error
    }
  }

  private func enqueueKernels() throws(DeviceError) {
    let device = executable.device
    let functions = device.library.functions
    let last = kernels.count - 1
    for (index, kernel) in kernels.enumerated() {
      let grid = executable.lowered.dispatches[index].call.grid
      var finished: cl_event?
      let wantsEvent = measuresNodes || index == last
      let status =
        wantsEvent ? enqueue(kernel, grid: grid, device, &finished) : enqueue(kernel, grid: grid, device, nil)
      guard status == CL_SUCCESS else {
        throw DeviceError(
          device: device.info.id,
          place: "node '\(executable.lowered.nodes[index])', "
            + "kernel \(executable.lowered.dispatches[index].call.program.function)",
          call: "clEnqueueNDRangeKernel", status: status)
      }
      if measuresNodes {
        if let old = profile[index] { _ = functions.clReleaseEvent(old) }
        profile[index] = finished
        if index == last, let finished { event.hold(finished, retains: true) }
      } else if index == last, let finished {
        event.hold(finished, retains: false)
      }
    }
  }

  package var nodeTimings: [NodeTiming] {
    guard measuresNodes else { return [] }
    let functions = executable.device.library.functions
    func time(_ event: cl_event, _ moment: Int32) -> Double? {
      var nanoseconds: cl_ulong = 0
      let query = cl_profiling_info(moment)
      let status = functions.clGetEventProfilingInfo(event, query, MemoryLayout<cl_ulong>.size, &nanoseconds, nil)
      return status == CL_SUCCESS ? Double(nanoseconds) * 1e-9 : nil
    }
    var timings: [NodeTiming] = []
    var positions: [String: Int] = [:]
    var origin: Double?
    for (index, event) in profile.enumerated() {
      guard let event, let start = time(event, CL_PROFILING_COMMAND_START),
        let end = time(event, CL_PROFILING_COMMAND_END)
      else { continue }
      let begin = origin ?? time(event, CL_PROFILING_COMMAND_SUBMIT) ?? start
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
