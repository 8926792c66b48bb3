#if Measuring
/// Starts processes of the program that measures: a library cannot know how its program is started anew.
package protocol StartLauncher: Sendable {
  /// Starts the program so that it calls `FreshStart.answer(request:began:)`, and waits for its end.
  ///
  /// - Parameters:
  ///   - request: the file to be passed on.
  ///   - environment: added to this process's own, replacing what has the same name.
  ///   - timeout: seconds after which the process is ended.
  ///   - isCancelled: asked now and then; the process is ended where it says so.
  /// - Returns: what it answered, and the moment before it was started, by `FreshStart.clock()`.
  func launch(
    request: String, environment: [String: String], timeout: Double, isCancelled: @Sendable () -> Bool
  ) throws(StartFailure) -> (answer: [UInt8], began: Double)

  /// Starts the program so that it calls `BackgroundLoadProcess.serve(_:ready:signal:)`, and returns when that is at work. The
  /// process ends with the object, and with this process, however that ends.
  func launchBackgroundLoad(_ items: [String]) throws(StartFailure) -> any BackgroundLoadConnection

  /// Told the folder of temporary files while there is one, to be removed should the program end at once.
  func temporaryFolder(_ path: String?)
}

/// A process could not be started, failed, crashed, or did not end in time; or it was no longer wanted.
package struct StartFailure: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// What a process that works beside a benchmark is told, a byte each, until the pipe closes. It is never stopped by the
/// system's signals: a stopped process does not see that its parent has ended.
package enum BackgroundLoadSignal: UInt8, Sendable {
  case rest = 0x70
  case work = 0x72
}

/// A process that works until it is told to stop.
package protocol BackgroundLoadConnection: AnyObject {
  var process: Int32 { get }
  /// Has it rest, or go on. One that has ended is told nothing.
  func send(_ signal: BackgroundLoadSignal)
  /// Tells it to stop and waits for its end.
  ///
  /// - Returns: what it answered.
  /// - Throws: where it had ended before, or does not end.
  func finish() throws(StartFailure) -> [UInt8]
}
#endif
