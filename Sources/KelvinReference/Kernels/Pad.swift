import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addPad() {
    add(Pad.self) { op, inputs in
      let shape = inputs.shape(0)
      return [
        Positions(inputs.outputs[0].shape).map { position in
          var source: [Int] = []
          for (axis, index) in position.enumerated() {
            let size = shape[axis]
            var place = index - op.before[axis]
            switch op.mode {
            case .constant(let value):
              guard (0..<size).contains(place) else { return Double(value) }
            case .reflect:
              if place < 0 { place = -place }
              if place >= size { place = 2 * (size - 1) - place }
            case .edge:
              place = min(max(place, 0), size - 1)
            }
            source.append(place)
          }
          return inputs.values[0][shape.offset(source)]
        }
      ]
    }
  }
}
