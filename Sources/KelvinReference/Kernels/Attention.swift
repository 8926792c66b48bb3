import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addAttention() {
    add(Attention.self) { op, inputs in
      func offset(_ view: [Int], _ position: [Int], _ row: Int) -> Int {
        view[0] + view[1] * position[0] + view[2] * position[1] + view[3] * row
      }
      let (q, k, v) = (inputs.values[0], inputs.values[1], inputs.values[2])
      var y = [Double](repeating: 0, count: inputs.outputs[0].count)
      for position in Positions([op.batch, op.heads]) {
        let shared = [position[0], position[1] / op.sharing]
        for row in 0..<op.queries {
          let query = offset(op.query, position, row)
          let seen =
            op.hasLengths
            ? op.keys(seenBy: row, length: Int(saturating: inputs.values[op.hasMask ? 4 : 3][position[0]]))
            : 0..<op.keys
          if seen.isEmpty { continue }
          let scores = seen.map { column in
            let key = offset(op.key, shared, column)
            let product = (0..<op.width).reduce(0) { $0 + q[query + $1 * op.query[4]] * k[key + $1 * op.key[4]] }
            let mask = op.hasMask ? inputs.values[3][inputs.shape(3).broadcastOffset(position + [row, column])] : 0
            return Double(op.scale) * product + mask
          }
          let largest = scores.max() ?? 0
          let shares = scores.map { exp($0 - largest) }
          let sum = shares.reduce(0, +)
          let target = op.result[0] * position[0] + op.result[1] * position[1] + op.result[2] * row
          for element in 0..<op.valueWidth {
            y[target + element] =
              shares.enumerated().reduce(0) {
                $0 + $1.element * v[offset(op.value, shared, seen.lowerBound + $1.offset) + element * op.value[4]]
              } / sum
          }
        }
      }
      return [y]
    }
  }
}
