import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addUpdateCache() {
    add(UpdateCache.self) { op, inputs in
      zip([op.key, op.value], [op.width, op.valueWidth]).enumerated().map { place, operand in
        let (view, width) = operand
        var cache = inputs.values[place]
        let (new, length) = (inputs.values[2 + place], inputs.shape(place)[2])
        for position in Positions([op.batch, op.heads, op.rows]) {
          let row = Int(saturating: inputs.values[4][position[0]] + Double(op.firstRow + position[2]))
          guard (0..<length).contains(row) else { continue }
          let source = view[0] + zip(view[1...], position).reduce(0) { $0 + $1.0 * $1.1 }
          let target = ((position[0] * op.heads + position[1]) * length + row) * width
          for element in 0..<width { cache[target + element] = new[source + element * view[4]] }
        }
        return cache
      }
    }
  }
}
