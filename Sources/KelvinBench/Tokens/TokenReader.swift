package import KelvinRuntime

/// A model that reads tokens and remembers them, loaded as one configuration of a benchmark runs it.
package protocol TokenReader: AnyObject {
  /// Made-up tokens that the model knows, the same for every configuration.
  func prompt(of count: Int) throws -> [Int]

  /// Reads tokens behind those that were read.
  ///
  /// - Returns: the likeliest next one.
  func next(after tokens: [Int]) throws -> Int

  /// Forgets what was read.
  func restart()

  /// What sizes have cost since the model was loaded.
  var specializationCounts: SpecializationCounts { get }

  /// Where what is remembered lies, in words.
  var memory: String { get }
}
