import CKelvinKernels
import KelvinDevices

/// An array of tasks with resolved pointers, run by one call.
final class CPUInvocation: Invocation {
  private let executable: CPUExecutable
  /// Keeps the memory alive.
  private let bindings: Bindings
  private let list: CPUTaskList
  private let tasks: UnsafeMutableBufferPointer<ck_task>
  private let times: UnsafeMutableBufferPointer<ck_task_time>?
  private var job = ck_job()
  private var hasRun = false
  let completion: any Event = CompletedEvent()

  init(_ executable: CPUExecutable, _ bindings: Bindings, _ list: CPUTaskList, threadScratch: UnsafeMutableRawPointer?) {
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
  }

  deinit {
    tasks.deallocate()
    times?.deallocate()
  }

  func submit(after events: [any Event]) throws(DeviceError) {
    for event in events { try event.wait() }
    ck_pool_run(ck_pool_shared(), &job)
    hasRun = true
  }

  var nodeTimings: [NodeTiming] {
    guard let times, hasRun else { return [] }
    var timings: [NodeTiming] = []
    var positions: [String: Int] = [:]
    for (index, time) in times.enumerated() {
      guard let name = executable.nodeName(list.nodes[index]) else { continue }
      if let position = positions[name] {
        timings[position].seconds += time.seconds
      } else {
        positions[name] = timings.count
        timings.append(NodeTiming(node: name, start: time.start, seconds: time.seconds, clock: .host))
      }
    }
    return timings
  }
}
