import Kelvin

/// Starts this program anew for `bench`.
struct SelfLauncher: StartLauncher {
  func launch(
    request: String, environment: [String: String], timeout: Double, isCancelled: @Sendable () -> Bool
  ) throws(StartFailure) -> (answer: [UInt8], began: Double) {
    try ChildProcess.run(
      [StartCommand.name, request], environment: environment, timeout: timeout, isCancelled: isCancelled)
  }

  func launchNeighbour(_ items: [String]) throws(StartFailure) -> any NeighbourConnection {
    try NeighbourChild(items)
  }

  func temporaryFolder(_ path: String?) { Interrupts.setFolder(path) }
}
