import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addRandomKey() {
    add(RandomKey.self) { op, inputs in
      let seed = op.seed.map { UInt64(bitPattern: Int64($0)) } ?? .random(in: .min ... .max)
      return [[seed, UInt64(inputs.run)].flatMap { [Double($0 & 0xFFFF_FFFF), Double($0 >> 32)] }]
    }
  }
}
