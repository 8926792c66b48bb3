import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addRandomUniform() {
    add(RandomUniform.self) { op, inputs in
      let key = inputs.values[0].map { UInt32($0) }
      var values: [Double] = []
      for index in 0..<inputs.outputs[0].count {
        let block = Philox.block([UInt32(index / 4), UInt32(op.stream), key[2], key[3]], key: [key[0], key[1]])
        values.append(Double(block[index % 4] >> 8) * 0x1p-24)
      }
      return [values]
    }
  }
}
