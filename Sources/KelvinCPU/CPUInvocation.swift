import CKelvinKernels
import KelvinDevices

/// An array of tasks with resolved pointers, run by one call.
final class CPUInvocation: Invocation {
  private let executable: CPUExecutable
  /// The bindings, which keep the memory alive.
  private let bindings: Bindings
  private let list: CPUTaskList
  private let tasks: UnsafeMutableBufferPointer<ck_task>
  private let times: UnsafeMutableBufferPointer<ck_task_time>?
  private var job = ck_job()
  private var hasRun = false
  let completion: any Event = CompletedEvent()

  init(
    _ executable: CPUExecutable, _ bindings: Bindings, _ list: CPUTaskList, threadScratch: UnsafeMutableRawPointer?
  ) {
    self.executable = executable
    self.bindings = bindings
    self.list = list
    tasks = .allocate(capacity: list.tasks.count)
    _ = tasks.initialize(from: list.tasks)
    if bindings.measuresNodes {
      let times = UnsafeMutableBufferPointer<ck_task_time>.allocate(capacity: list.tasks.count)
      times.initialize(repeating: ck_task_time())
      self.times = times
    } else {
      times = nil
    }
    job.tasks = UnsafePointer(tasks.baseAddress)
    job.count = tasks.count
    job.threads = executable.threads
    job.scratch = threadScratch
    job.scratch_stride = executable.threadStride
    job.times = times?.baseAddress
    job.stop = bindings.stop?.address
  }

  deinit {
    tasks.deallocate()
    times?.deallocate()
  }

  func submit() throws(DeviceError) {
    let isCancelled = ck_thread_pool_run(ck_thread_pool_shared(), &job) != 0
    if list.fault.pointee.is_set != 0 { throw takeFault() }
    if isCancelled { throw .cancelled(device: "cpu") }
    hasRun = true
  }

  /// Returns the fault that a task reported, and clears it for the next run.
  private func takeFault() -> DeviceError {
    let fault = list.fault.pointee
    list.fault.pointee = ck_fault()
    return .index(
      Int(fault.index), outside: fault.length, device: "cpu", node: executable.nodeNames[Int(fault.node)])
  }

  /// Nodes whose output is their input's memory take no time; they are listed with zero seconds.
  var nodeTimings: [NodeTiming] {
    guard let times, hasRun else { return [] }
    var timings: [NodeTiming] = []
    var positions: [String: Int] = [:]
    for name in executable.nodeNames where positions[name] == nil {
      positions[name] = timings.count
      timings.append(NodeTiming(node: name, start: -1, seconds: 0, clock: .host))
    }
    for (node, time) in zip(list.nodes, times) where node >= 0 {
      guard let position = positions[executable.nodeNames[node]] else { continue }
      if timings[position].start < 0 { timings[position].start = time.start }
      timings[position].seconds += time.seconds
    }
    var end = 0.0
    for index in timings.indices {
      if timings[index].start < 0 { timings[index].start = end }
      end = timings[index].start + timings[index].seconds
    }
    return timings
  }
}
