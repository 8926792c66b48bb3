import ArgumentParser
import Kelvin
import KelvinMeasuring

/// A timed start, which `bench` runs in a child process. Not intended for users.
struct StartCommand: ParsableCommand {
  static let name = "start-once"
  static let configuration = CommandConfiguration(
    commandName: StartCommand.name, abstract: "Run one start for 'bench'.", shouldDisplay: false)

  @Argument(help: "A request file of 'bench'.")
  var request: String

  func run() throws {
    ChildProcess.endWithParent()
    let answer = try FreshStart.answer(request: request, began: KelvinTool.began)
    Console.write(String(decoding: answer, as: UTF8.self) + "\n", to: ChildProcess.answerDescriptor)
  }
}
