import Glibc
package import Testing

/// The tiers of tests: `make test` runs the first, `make test-slow` the tests that belong to the second.
///
/// The runner cannot select tests by a tag, so `make test-slow` sets `KELVIN_SLOW_TESTS` and takes the names of its tests from
/// `dev/slow-tests.py`, which finds `.slow` and `Tier` in a test or in its attribute.
package enum Tier {
  package static let isSlow = getenv("KELVIN_SLOW_TESTS") != nil

  /// Seeds of a test that runs in both tiers: the first few of them in the first, all in the second.
  package static func seeds<Seed: FixedWidthInteger>(_ count: Seed, of all: Seed) -> Range<Seed> {
    0..<(isSlow ? all : count)
  }

  /// Seeds that do not begin with zero.
  package static func some<Seed: FixedWidthInteger>(_ count: Seed, of all: Range<Seed>) -> Range<Seed> {
    all.lowerBound..<(isSlow ? all.upperBound : all.lowerBound + count)
  }

  /// The number of trials that a test makes in its body.
  package static func trials(_ count: Int, of all: Int) -> Int { isSlow ? all : count }

  /// Arguments of a test that runs in both tiers: the first few in the first, all in the second.
  package static func some<Element>(_ count: Int, of all: [Element]) -> [Element] {
    isSlow ? all : Array(all.prefix(count))
  }

  /// Arguments of a test that runs in both tiers: about so many in the first, from beginning to end, all in the second.
  package static func sample<Element>(_ count: Int, of all: [Element]) -> [Element] {
    isSlow ? all : stride(from: 0, to: all.count, by: max(1, all.count / count)).map { all[$0] }
  }
}

extension Trait where Self == ConditionTrait {
  /// Leaves a suite or test to `make test-slow`.
  package static var slow: Self { .enabled(if: Tier.isSlow, "slow: `make test-slow` runs it") }
}
