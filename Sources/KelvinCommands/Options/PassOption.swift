import ArgumentParser
import Kelvin

/// The option that stops the graph passes early, to find the pass that causes an error.
struct PassOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Run the graph's passes up to this one only; 'none' runs no pass, and an unknown name lists them.",
      valueName: "pass"), transform: name)
  var stopAfterPass: String?

  private static func name(_ text: String) throws -> String {
    do { try ModelConfiguration.check(pass: text) } catch { throw ValidationError("\(error)") }
    return text
  }
}
