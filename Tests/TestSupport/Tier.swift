import Glibc
package import Testing

/// The tiers of tests: `make test` runs the first, `make test-slow` the tests that belong to the second.
///
/// The runner cannot select tests by a tag, so `make test-slow` sets `KELVIN_SLOW_TESTS` and takes the names of its tests from
/// `dev/slow-tests.py`, which finds `.slow` and `Tier` among the arguments of `@Test` and `@Suite`.
package enum Tier {
  package static let isSlow = getenv("KELVIN_SLOW_TESTS") != nil

  /// Seeds of a test that runs in both tiers: some of them in the first, all in the second.
  package static func seeds(_ count: Int, of all: Int) -> Range<Int> { 0..<(isSlow ? all : count) }

  /// Arguments of a test that runs in both tiers: the first few in the first, all in the second.
  package static func some<Element>(_ count: Int, of all: [Element]) -> [Element] {
    isSlow ? all : Array(all.prefix(count))
  }
}

extension Trait where Self == ConditionTrait {
  /// Leaves a suite or test to `make test-slow`.
  package static var slow: Self { .enabled(if: Tier.isSlow, "slow: `make test-slow` runs it") }
}
