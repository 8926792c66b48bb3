import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addDequantize() {
    add(Dequantize.self) { op, inputs in
      [
        zip(inputs.values[0], op.axis.indices(inputs.shape(0))).map { value, index in
          Double(Float(value - inputs.values[2][index])) * inputs.values[1][index]
        }
      ]
    }
  }
}
