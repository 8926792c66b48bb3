import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinMeasuring
import KelvinVision

/// Measures the cost of a model in a child process that only loads the model and answers. The measured memory is then
/// that of the model alone.
enum CandidateMeter {
  /// The time limit of a measurement in seconds, far above the usual duration.
  private static let timeLimit = 600.0

  /// Measures the candidate and the example with these indices in a child process.
  ///
  /// The child gets this process's arguments and two more that select the measurement. They follow the command's name
  /// directly, because after a `--` they would be file names.
  ///
  /// - Throws: `StartFailure`.
  static func measure(candidate: Int, example: Int) throws(StartFailure) -> CandidateCost {
    try measure(["--measured-candidate=\(candidate)", "--measured-example=\(example)"])
  }

  /// Runs this command in a child process with more arguments, which follow the command's name.
  ///
  /// - Throws: `StartFailure`, also if the child's answer is not of the type.
  static func measure<Answer: Decodable>(_ arguments: [String]) throws(StartFailure) -> Answer {
    let own = KelvinTool.arguments
    let (answer, _) = try ChildProcess.run(
      own.prefix(1) + arguments + own.dropFirst(), environment: [:], timeout: timeLimit, isCancelled: { false })
    guard let decoded = try? JSONText.decode(Answer.self, from: Data(answer)) else {
      throw StartFailure("it ended without an answer that can be read")
    }
    return decoded
  }

  /// Writes the child process's answer.
  static func answer(_ answer: some Encodable) throws {
    Console.write(Array(try JSONText.encode(answer, layout: .line)), to: ChildProcess.answerDescriptor)
  }
}
