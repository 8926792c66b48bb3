/// How far a measurement has come.
package struct BenchmarkProgress: Sendable, Hashable {
  /// What is going on: `vulkan:0: compiling`.
  package var phase: String
  /// Of the whole, 0…1.
  package var fraction: Double
  /// Live numbers, e.g. `30.0 /s, p50 12.3 ms, nominal`; empty where there are none yet.
  package var detail: String

  package init(phase: String, fraction: Double, detail: String = "") {
    self.phase = phase
    self.fraction = min(max(fraction, 0), 1)
    self.detail = detail
  }
}

package typealias BenchmarkObserver = (BenchmarkProgress) -> Void
