import ArgumentParser

/// The parsing of a command line without executing it.
package enum ParsedCommandLine {
  /// Returns the message for a command line that does not run: an error or the requested help.
  ///
  /// - Returns: The message; nil for a valid command line.
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
