import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addUnique() {
    add(Unique.self) { op, inputs in
      let (shape, x) = (inputs.shape(0), inputs.values[0])
      let count = shape[op.axis]
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      let outer = shape.dimensions[..<op.axis].reduce(1, *)
      let slices = (0..<count).map { slice in
        (0..<outer * inner).map { x[($0 / inner * count + slice) * inner + $0 % inner] }
      }
      func isSame(_ a: Int, _ b: Int) -> Bool {
        zip(slices[a], slices[b]).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN }
      }
      var firsts = (0..<count).filter { slice in !(0..<slice).contains { isSame($0, slice) } }
      if op.isSorted {
        firsts.sort { a, b in
          slices[a].lexicographicallyPrecedes(slices[b]) { $0 < $1 || !$0.isNaN && $1.isNaN }
        }
      }
      let inverse = (0..<count).map { slice in firsts.firstIndex { isSame($0, slice) } ?? 0 }
      var counts = [Double](repeating: 0, count: count)
      for number in inverse { counts[number] += 1 }
      let rest = [Double](repeating: 0, count: count - firsts.count)
      return [firsts.map(Double.init) + rest, inverse.map(Double.init), counts, [Double(firsts.count)]]
    }
  }
}
