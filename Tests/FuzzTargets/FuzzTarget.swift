/// An interface that reads external bytes.
///
/// `dev/fuzz.sh` runs it under libFuzzer, and the test suite with seeded mutations. Both use the lists in
/// `FuzzTarget.all`.
package struct FuzzTarget: Sendable {
  /// The grammar of the bytes, for mutations.
  package enum Grammar: Sendable { case bytes, wire, json }

  /// The outcome of an input.
  package enum Ending: Hashable, Sendable { case value, refused }

  package let name: String
  package let grammar: Grammar
  /// Bytes of the longest input that is worth trying: headers are where readers go wrong, and short inputs are fast.
  package let longest: Int
  /// The number of mutations in the suite.
  package let trials: Int
  private let findSeeds: @Sendable () -> [[UInt8]]
  private let read: @Sendable (UnsafeRawBufferPointer) -> Ending

  /// - Parameters:
  ///   - failure: the error of the module that reads. Any other is a finding.
  ///   - read: reads all of the bytes. It may assume that one thread at a time calls it.
  init<Failure: Error & CustomStringConvertible>(
    _ name: String, _ failure: Failure.Type, _ grammar: Grammar = .bytes, longest: Int = 4096, trials: Int = 300,
    seeds: @autoclosure @escaping @Sendable () -> [[UInt8]],
    _ read: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) {
    self.name = name
    self.grammar = grammar
    self.longest = longest
    self.trials = trials
    findSeeds = seeds
    self.read = { bytes in
      do { try read(bytes) } catch let error as Failure {
        precondition(!error.description.isEmpty, "\(name): an error without words")
        return .refused
      } catch {
        fatalError("\(name): \(type(of: error)) is not its module's error: \(error)")
      }
      return .value
    }
  }

  /// Inputs to begin with, none of them longer than `longest`.
  package func seeds() -> [[UInt8]] { findSeeds().filter { $0.count <= longest } }

  /// Takes bytes to their end: a value, or one of the module's own errors. Anything else stops the process.
  @discardableResult
  package func feed(_ bytes: UnsafeRawBufferPointer) -> Ending { read(bytes) }
}

extension FuzzTarget {
  /// Every fuzz target. A new one is a line in one of these lists.
  package static let all =
    models + arrays + images + documents + companions + indexes + texts + machine + cache + worker + interface
    + packaging + media
}
