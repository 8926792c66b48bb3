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
    let own = KelvinTool.arguments
    let measured = ["--measured-candidate=\(candidate)", "--measured-example=\(example)"]
    let (answer, _) = try ChildProcess.run(
      own.prefix(1) + measured + own.dropFirst(), environment: [:], timeout: timeLimit, isCancelled: { false })
    guard let cost = try? JSONText.decode(CandidateCost.self, from: Data(answer)) else {
      throw StartFailure("it ended without an answer that can be read")
    }
    return cost
  }

  /// Writes the child process's answer.
  static func answer(_ cost: CandidateCost) throws {
    Console.write(Array(try JSONText.encode(cost, layout: .line)), to: ChildProcess.answerDescriptor)
  }
}
