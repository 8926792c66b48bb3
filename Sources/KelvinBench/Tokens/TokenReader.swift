package import KelvinRuntime

/// A model that reads tokens and keeps their state, loaded as one configuration of a benchmark runs it.
package protocol TokenReader: AnyObject {
  /// Returns synthetic tokens that are valid for the model, the same for every configuration.
  func prompt(of count: Int) throws -> [Int]

  /// Appends tokens to the sequence.
  ///
  /// - Returns: the most likely next token.
  func next(after tokens: [Int]) throws -> Int

  /// Clears the sequence.
  func restart()

  /// The plans and compilations for new sizes since the model was loaded.
  var specializationCounts: SpecializationCounts { get }

  /// The storage of the model's token state (KV cache), in words.
  var memory: String { get }
}
