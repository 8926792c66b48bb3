import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addSelect() {
    add(Select.self) { _, inputs in
      [
        Positions(inputs.outputs[0].shape).map { position in
          let chosen = inputs.values[0][inputs.shape(0).broadcastOffset(position)] != 0 ? 1 : 2
          return inputs.values[chosen][inputs.shape(chosen).broadcastOffset(position)]
        }
      ]
    }
  }
}
