import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addCumulativeSum() {
    add(CumulativeSum.self) { op, inputs in
      let lines = Lines(inputs.shape(0), along: op.axis)
      let x = inputs.values[0]
      var y = x
      for line in 0..<lines.count {
        var sum = 0.0
        for step in 0..<lines.length {
          let place = lines.place(line, op.isReversed ? lines.length - 1 - step : step)
          let next = sum + x[place]
          y[place] = op.isExclusive ? sum : next
          sum = next
        }
      }
      return [y]
    }
  }
}
