internal import CKelvinSupport
internal import Dispatch
internal import KelvinDevices

/// What ends when the device has done it.
extension OpenCLDevice {
  /// - Throws: the typed form of a failed call. A loss takes the device out.
  ///
  /// - Parameter byteCount: what was asked for, where it is memory.
  func check(_ status: cl_int, _ call: String, _ place: String, byteCount: Int? = nil) throws(DeviceError) {
    DriverThread.beat()
    guard status != CL_SUCCESS else { return }
    let error = DeviceError(device: info.id, place: place, call: call, status: status, byteCount: byteCount)
    if error.takesDeviceOut { health.takeOut(error) }
    throw error
  }

  /// A call that succeeded and gave no object.
  func nothing(from call: String, _ place: String) -> DeviceError {
    DeviceError(.execution, device: info.id, place: place, reason: "\(call) gave nothing")
  }

  /// Waits for an event, no longer than the device is allowed: OpenCL's own waits know no limit.
  ///
  /// - Throws: what took the device out, which this does where it is hung, and where the event or waiting for it failed:
  ///   the queue may then be at work.
  /// - Returns: seconds that the submission took, as far as is known (`DeviceHealth.wait`).
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
    // It is over: this says how, and makes what it wrote visible to the host.
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

  /// Tells the queue something when it is the calling thread's turn. Not to be nested.
  ///
  /// - Throws: what took the device out, also while the caller waits for its turn; what `body` throws.
  func inTurn<Result>(_ body: () throws(DeviceError) -> Result) throws(DeviceError) -> Result {
    try turns.take(health) { () throws(DeviceError) in try body() }
  }

  /// Enqueues something and waits for its end.
  ///
  /// - Parameter mayCompile: it is the first run of a program.
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
      throw DeviceError(.execution, device: info.id, place: call, reason: "it gave no event")
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

/// Something that is reached once.
private final class Ending: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func reach() { semaphore.signal() }

  /// Whether it was reached within so many seconds.
  func wait(seconds: Double) -> Bool {
    semaphore.wait(timeout: .now() + min(seconds, 1e9)) == .success
  }
}
