import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addExpand() {
    add(Expand.self) { op, inputs in
      [Positions(op.shape).map { inputs.values[0][inputs.shape(0).broadcastOffset($0)] }]
    }
  }
}
