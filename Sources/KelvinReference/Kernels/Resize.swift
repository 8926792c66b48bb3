import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addResize() {
    add(Resize.self) { op, inputs in
      var (shape, values) = (inputs.shape(0), inputs.values[0])
      for axis in op.axes {
        let (length, inner) = (shape[axis.axis], shape.dimensions[(axis.axis + 1)...].reduce(1, *))
        let rows = shape.dimensions[..<axis.axis].reduce(1, *)
        let read = op.interpolation.reader(axis, length: length)
        var result: [Double] = []
        for row in 0..<rows {
          for position in 0..<axis.size {
            for column in 0..<inner { result.append(read(position) { values[(row * length + $0) * inner + column] }) }
          }
        }
        shape[axis.axis] = axis.size
        values = result
      }
      return [values]
    }
  }
}

extension Resize.Interpolation {
  /// Returns a function that computes an output position from the elements along an axis.
  fileprivate func reader(_ axis: ResizeAxis, length: Int) -> (Int, (Int) -> Double) -> Double {
    guard axis.size > 0 else { return { _, _ in 0 } }
    switch self {
    case .linear:
      let taps = axis.linearTaps(length: length)
      return { position, element in
        let tap = taps[position]
        if tap.fraction == 0 { return element(tap.lower) }
        return element(tap.lower) * (1 - tap.fraction) + element(tap.upper) * tap.fraction
      }
    case .nearest(let rounding):
      let indices = axis.nearestIndices(length: length, rounding)
      return { position, element in element(indices[position]) }
    }
  }
}
