import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addCast() {
    add(Cast.self) { _, inputs in [inputs.values[0]] }
  }
}
