import Kelvin
import KelvinMeasuring

/// A launcher of child processes of this program for `bench`.
struct SelfLauncher: StartLauncher {
  func launch(
    request: String, environment: [String: String], timeout: Double, isCancelled: @Sendable () -> Bool
  ) throws(StartFailure) -> (answer: [UInt8], began: Double) {
    try ChildProcess.run(
      [StartCommand.name, request], environment: environment, timeout: timeout, isCancelled: isCancelled)
  }

  func launchBackgroundLoad(_ items: [String]) throws(StartFailure) -> any BackgroundLoadConnection {
    try BackgroundLoadChild(items)
  }

  func temporaryFolder(_ path: String?) { Interrupts.setFolder(path) }
}
