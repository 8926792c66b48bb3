/// Starts processes of the measuring program. The program provides this, because a library does not know how its
/// program is started.
package protocol StartLauncher: Sendable {
  /// Starts the program so that it calls `FreshStart.answer(request:began:)`, and waits for its end.
  ///
  /// - Parameters:
  ///   - request: the request file to pass on.
  ///   - environment: variables to add to this process's environment, replacing those of the same name.
  ///   - timeout: seconds after which the process is ended.
  ///   - isCancelled: polled while waiting; the process is ended when it returns true.
  /// - Returns: the process's output and the time before the process was started, by `FreshStart.clock()`.
  func launch(
    request: String, environment: [String: String], timeout: Double, isCancelled: @Sendable () -> Bool
  ) throws(StartFailure) -> (answer: [UInt8], began: Double)

  /// Starts the program so that it calls `BackgroundLoadProcess.serve(_:ready:signal:)`, and returns when the load
  /// runs. The process ends with the returned object, and with this process, even if this process crashes.
  func launchBackgroundLoad(_ items: [String]) throws(StartFailure) -> any BackgroundLoadConnection

  /// Receives the folder of temporary files while it exists, to be removed if the program is terminated.
  func temporaryFolder(_ path: String?)
}

/// A process could not be started, failed, crashed, did not end in time, or was cancelled.
package struct StartFailure: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// A signal to a background load process, sent as one byte each until the pipe closes. SIGSTOP is not used, because a
/// stopped process does not notice that its parent has ended.
package enum BackgroundLoadSignal: UInt8, Sendable {
  case rest = 0x70
  case work = 0x72
}

/// A connection to a background load process.
package protocol BackgroundLoadConnection: AnyObject {
  var process: Int32 { get }
  /// Pauses or resumes the load. Has no effect on a process that has ended.
  func send(_ signal: BackgroundLoadSignal)
  /// Tells the process to stop and waits for its end.
  ///
  /// - Returns: the process's output.
  /// - Throws: `StartFailure` if the process had already ended, or does not end.
  func finish() throws(StartFailure) -> [UInt8]
}
