import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addPad() {
    add(moving: Pad.self)
  }
}

extension Pad: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let shape = inputs.shape(0)
    return Positions(inputs.outputs[0].shape).map { position in
      var source: [Int] = []
      for (axis, index) in position.enumerated() {
        let size = shape[axis]
        var position = index - before[axis]
        switch mode {
        case .constant(let value):
          guard (0..<size).contains(position) else { return Element(attribute: value) }
        case .reflect:
          if position < 0 { position = -position }
          if position >= size { position = 2 * (size - 1) - position }
        case .edge:
          position = min(max(position, 0), size - 1)
        case .wrap:
          position = (position + size) % size
        }
        source.append(position)
      }
      return inputs.values[0][shape.offset(source)]
    }
  }
}
