internal import CKelvinSupport
internal import Dispatch
internal import KelvinDevices

/// Checks of driver calls, and waits for the device.
extension OpenCLDevice {
  /// - Throws: the typed error of a failed call. A lost device is disabled.
  ///
  /// - Parameter byteCount: the size requested, for a call that allocates memory.
  func check(_ status: cl_int, _ call: String, _ place: String, byteCount: Int? = nil) throws(DeviceError) {
    DriverThread.beat()
    guard status != CL_SUCCESS else { return }
    let error = DeviceError(device: info.id, place: place, call: call, status: status, byteCount: byteCount)
    if error.takesDeviceOut { health.takeOut(error) }
    throw error
  }

  /// Returns the error of a call that succeeded but returned no object.
  func nothing(from call: String, _ place: String) -> DeviceError {
    DeviceError(.execution, device: info.id, place: place, reason: "\(call) gave nothing")
  }

  /// Waits for an event, up to the device's time limit; OpenCL's own waits have no limit.
  ///
  /// - Throws: the error that disabled the device. A hung device, a failed event and a failed wait disable it too,
  ///   because the queue may still be running.
  /// - Returns: the duration of the submission in seconds, as far as is known (`DeviceHealth.wait`).
  @discardableResult
  func wait(for event: DriverEvent, of submission: DeviceHealth.Submission) throws(DeviceError) -> Double {
    try health.check()
    let functions = library.functions
    func lose(_ call: String, _ status: cl_int) throws(DeviceError) {
      DriverThread.beat()
      guard status != CL_SUCCESS else { return }
      let place = "waiting for the queue"
      let failure = DeviceError(device: info.id, place: place, call: call, status: status).asLoss()
      health.takeOut(failure)
      throw failure
    }
    var state: cl_int = CL_COMPLETE
    try lose(
      "clGetEventInfo",
      functions.clGetEventInfo(
        event.handle, cl_event_info(CL_EVENT_COMMAND_EXECUTION_STATUS), MemoryLayout<cl_int>.size, &state, nil))
    let seconds = state > CL_COMPLETE ? try waitForEnd(event, submission, lose) : 0
    // The event has completed. This call returns its status and makes written memory visible to the host.
    var list: cl_event? = event.handle
    try lose("clWaitForEvents", functions.clWaitForEvents(1, &list))
    return seconds
  }

  private func waitForEnd(
    _ event: DriverEvent, _ submission: DeviceHealth.Submission,
    _ lose: (_ call: String, _ status: cl_int) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Double {
    let end = Ending()
    let shared = Unmanaged.passRetained(end)
    let status = library.functions.clSetEventCallback(
      event.handle, CL_COMPLETE,
      { _, _, end in end.map { Unmanaged<Ending>.fromOpaque($0).takeRetainedValue().reach() } },
      shared.toOpaque())
    if status != CL_SUCCESS { shared.release() }
    try lose("clSetEventCallback", status)
    return try health.wait(info.id, "waiting for the queue", for: submission) { end.wait(seconds: $0) }
  }

  /// Runs a function that uses the queue when it is the calling thread's turn. Calls must not be nested.
  ///
  /// - Throws: the error that disabled the device, also while the caller waits for its turn; errors of `body`.
  func inTurn<Result>(_ body: () throws(DeviceError) -> Result) throws(DeviceError) -> Result {
    try turns.take(health) { () throws(DeviceError) in try body() }
  }

  /// Enqueues a command and waits for its completion.
  ///
  /// - Parameter mayCompile: whether this is the first run of a program.
  func completing(
    _ call: String, mayCompile: Bool = false,
    _ enqueue: (UnsafeMutablePointer<cl_event?>) throws(DeviceError) -> Void
  ) throws(DeviceError) {
    var event: cl_event?
    try inTurn { () throws(DeviceError) in
      try enqueue(&event)
      try check(library.functions.clFlush(queue), "clFlush", "queue")
    }
    guard let event else {
      throw DeviceError(.execution, device: info.id, place: call, reason: "the driver returned no event")
    }
    try wait(for: DriverEvent(event, self), of: health.submitted(mayCompile: mayCompile))
  }

  /// Waits until the queue is empty.
  func drain() throws(DeviceError) {
    let call = "clEnqueueMarkerWithWaitList"
    do throws(DeviceError) {
      try completing(call) { (event) throws(DeviceError) in
        try check(library.functions.clEnqueueMarkerWithWaitList(queue, 0, nil, event), call, "queue")
      }
    } catch {
      let failure = error.asLoss()
      health.takeOut(failure)
      throw failure
    }
  }
}

/// A condition that is signalled once.
private final class Ending: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func reach() { semaphore.signal() }

  /// Whether the condition was signalled within this many seconds.
  func wait(seconds: Double) -> Bool {
    semaphore.wait(timeout: .now() + min(seconds, 1e9)) == .success
  }
}
