import FuzzTargets
import Glibc
import TestSupport
import Testing

/// Every interface that reads external bytes, with seeded mutations: each ends in a value or in the module's own error,
/// in bounded memory. dev/fuzz.sh runs the same targets for longer.
///
/// If a target stops its process, the last line of the child's output has its name and the mutation's number.
@Suite struct FuzzTargetTests {
  private static let names = FuzzTarget.all.map(\.name)

  @Test func targetNamesAreUnique() { #expect(Set(Self.names).count == Self.names.count) }

  @Test(arguments: names)
  func mutationsGiveAValueOrTheModuleError(name: String) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [name] in
      let fuzzTarget = try #require(FuzzTarget.all.first { $0.name == name })
      let seeds = fuzzTarget.seeds()
      // The seeds are valid, so that mutations are close to valid inputs.
      #expect(seeds.contains { $0.withUnsafeBytes { fuzzTarget.feed($0) } == .value }, "of \(seeds.count) seeds")
      var watch = MemoryWatch(limit: 128 << 20)
      for number in 0..<Tier.trials(fuzzTarget.trials / 10, of: fuzzTarget.trials) {
        let input = fuzzTarget.trial(number, of: seeds)
        let note = Array("\(name), mutation \(number)\n".utf8)
        write(STDERR_FILENO, note, note.count)
        input.withUnsafeBytes { _ = fuzzTarget.feed($0) }
        if number % 16 == 0 { watch.look() }
      }
      #expect(watch.isBounded)
    }
    guard let result, result.exitStatus != .exitCode(EXIT_SUCCESS) else { return }
    let last = result.standardErrorContent.split(separator: UInt8(ascii: "\n")).suffix(3)
    Issue.record("\(last.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n"))")
  }
}
