import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinMeasuring

/// The entry point of the program.
package enum CommandLineTool {
  package static func main() -> Never { KelvinTool.main() }
}

/// The command line; its contract is described in docs/design/interfaces.md.
struct KelvinTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kelvin",
    abstract:
      """
      Run Core ML and ONNX models on CPU, Vulkan and OpenCL devices, and show which device runs each node and why.
      """,
    version: kelvinVersion,
    subcommands: [
      DevicesCommand.self, InspectCommand.self, PredictCommand.self, ClassifyCommand.self, SegmentCommand.self,
      DetectCommand.self, PoseCommand.self, StreamCommand.self, IndexCommand.self, SearchCommand.self,
      CategoriesCommand.self,
      EvaluateCommand.self, AnswerCommand.self, EmbedCommand.self, UseCommand.self, GenerateCommand.self,
      CompressCommand.self, EncryptCommand.self, PublishCommand.self, FetchCommand.self, ModelsCommand.self,
      PlanCommand.self, ProfileCommand.self, BenchCommand.self, AdviseCommand.self, ReportCommand.self,
      OperatorsCommand.self, StartCommand.self, BackgroundLoadCommand.self,
    ])

  /// The start time of the process.
  static let began = FreshStart.clock()

  /// The arguments without the program's name. Paths are converted so that arbitrary bytes survive.
  static var arguments: [String] {
    (1..<max(Int(CommandLine.argc), 1)).compactMap { CommandLine.unsafeArgv[$0].map { String(path: $0) } }
  }

  /// Runs the command line. Every error ends as one line on stderr and an exit status.
  static func main() -> Never {
    _ = began
    if let memoryBytes = WorkerCommand.memoryBytes(Self.arguments) { WorkerCommand.serve(memoryBytes) }
    IsolatedWorker.useThisProgram()
    Console.prepare()
    OutOfMemoryMessage.prepare()
    ComputeDevice.anticipate()
    ModelsOfProcess.keep()
    do {
      var command = try parseAsRoot(PublishCommand.renamingVersion(Self.arguments))
      if (command as? any IsolatedCommand)?.isolation.isolate == true { Isolation.standard = .worker }
      KeyOptions.openEncryptedModels((command as? any KeyedCommand)?.key)
      try LimitOptions.bounding(command) { try command.run() }
    } catch {
      reportDevices()
      exit(reporting: error)
    }
    Console.exit(reportDevices() ? .success : .missingDevice)
  }

  /// Checks the devices that took part, and prints what failed in this run.
  ///
  /// - Returns: whether the results can be trusted.
  @discardableResult
  private static func reportDevices() -> Bool {
    let (remarks, isDoubtful) = ModelsOfProcess.finish()
    remarks.forEach(Console.note)
    if isDoubtful {
      Console.lastError(
        "results may be wrong, because a device computes wrongly; repeat the command without the device")
    }
    return !isDoubtful
  }

  private static func exit(reporting error: any Error) -> Never {
    if exitCode(for: error) == .success {
      // A request for help or the version, or an exit without an error.
      Console.print(fullMessage(for: error))
      Console.exit(.success)
    }
    if let silent = error as? ReportedFailure { Console.exit(silent.status) }
    let status = ExitStatus(error)
    Console.lastError(describe(status.isParsing ? message(for: error) : "\(error)"))
    if status.isParsing {
      let names = Self.configuration.subcommands.compactMap { $0.configuration.commandName }
      let command = Self.arguments.first.flatMap { first in names.first { $0 == first } }
      Console.note(command.map { "'kelvin help \($0)' lists the options" } ?? "'kelvin help' lists the commands")
    }
    Console.exit(status.code)
  }
}
