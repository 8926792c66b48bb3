import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addDequantize() {
    add(Dequantize.self) { op, inputs in
      [
        zip(inputs.values[0], op.axis.places(inputs.shape(0))).map { value, place in
          Double(Float(value - inputs.values[2][place])) * inputs.values[1][place]
        }
      ]
    }
  }
}
