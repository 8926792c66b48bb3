import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  /// A cast is what a tensor's conversion is; `referenceResults` knows, since no float64 lies between.
  mutating func addCast() {
    add(Cast.self) { _, inputs in [inputs.values[0]] }
  }
}
