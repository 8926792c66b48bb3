import ArgumentParser
import Kelvin

/// The option that stops the graph passes early, to find the pass that causes an error.
struct PassOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Run the passes over the graph up to this one only, 'none' for none of them; a wrong name lists them.",
      valueName: "pass"), transform: name)
  var stopAfterPass: String?

  private static func name(_ text: String) throws -> String {
    do { try ModelConfiguration.check(pass: text) } catch { throw ValidationError("\(error)") }
    return text
  }
}
