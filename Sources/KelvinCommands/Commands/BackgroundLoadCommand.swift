import ArgumentParser
import Glibc
import Kelvin
import KelvinMeasuring

/// A child process that generates background load beside a benchmark. Not intended for users.
struct BackgroundLoadCommand: ParsableCommand {
  static let name = "work-beside"
  static let configuration = CommandConfiguration(
    commandName: BackgroundLoadCommand.name, abstract: "Generate background load for 'bench'.", shouldDisplay: false)

  @Argument(help: "The load, in the form of --coload.")
  var items: [String]

  func run() throws {
    // The parent handles the interrupt and tells this process when to end.
    signal(SIGINT, SIG_IGN)
    let answer = try BackgroundLoadProcess.serve(
      items, ready: { Console.write("\n", to: ChildProcess.answerDescriptor) },
      signal: { ChildProcess.byteFromParent().flatMap(BackgroundLoadSignal.init) })
    Console.write(String(decoding: answer, as: UTF8.self) + "\n", to: ChildProcess.answerDescriptor)
  }
}
