import ArgumentParser

/// A command line as it is read, before anything of it is done.
package enum ParsedCommandLine {
  /// What is said of a command line that asks for no work: what is wrong with it, or the help that it asks for.
  ///
  /// - Returns: nil for one that would be run.
  package static func objection(to arguments: [String]) -> String? {
    do {
      try check(try KelvinTool.parseAsRoot(arguments))
      return nil
    } catch {
      let isHelp = KelvinTool.exitCode(for: error) == .success
      return isHelp ? KelvinTool.fullMessage(for: error) : KelvinTool.message(for: error)
    }
  }

  /// - Throws: `UsageError` for options that contradict each other.
  private static func check(_ command: any ParsableCommand) throws {
    switch command {
    case let command as PlanCommand:
      var configuration = try command.options.configuration(units: command.units.units)
      command.goals.complete(&configuration)
    case let command as BenchCommand: _ = try command.options.configuration()
    case let command as AdviseCommand: _ = try command.options.configuration()
    case let command as InspectCommand: _ = try command.shapes.dictionary()
    default: break
    }
  }
}
