import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

/// Measures what a model takes in a process of this program's own, which does nothing but load it and answer: so its memory
/// is told from that of others, and nothing else is at work.
enum CandidateMeter {
  /// Seconds that a contestant may take: many times what any takes.
  private static let patience = 600.0

  /// Starts this program once more with its own arguments and two that say what to measure, right behind the command's name:
  /// behind a `--` they would be names of files.
  ///
  /// - Parameters:
  ///   - contestant: by its number.
  ///   - example: of the data set, by its number.
  /// - Throws: `StartFailure`.
  static func measure(contestant: Int, example: Int) throws(StartFailure) -> ContenderCost {
    let own = KelvinTool.arguments
    let measured = ["--measured-contestant=\(contestant)", "--measured-example=\(example)"]
    let (answer, _) = try ChildProcess.run(
      own.prefix(1) + measured + own.dropFirst(), environment: [:], timeout: patience, isCancelled: { false })
    guard let cost = try? JSONText.decode(ContenderCost.self, from: Data(answer)) else {
      throw StartFailure("it ended without an answer that can be read")
    }
    return cost
  }

  /// What such a process answers.
  static func answer(_ cost: ContenderCost) throws {
    Console.write(Array(try JSONText.encode(cost, layout: .line)), to: ChildProcess.answerDescriptor)
  }
}
