import KelvinBasics

/// Changes bytes as damage or malice would: a bit, a byte, a number, a part cut, doubled or moved.
struct ByteMutator {
  private static let notable: [[UInt8]] = [
    [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0x7F], [0, 0, 0, 0x80], [0x7F], [0x80], [0xFF],
    [0, 0, 1, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], Array("9e99".utf8), Array("-".utf8), [0x0A],
  ]

  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func mutated(_ original: [UInt8]) -> [UInt8] {
    var bytes = original
    for _ in 0...random.index(below: 3) where !bytes.isEmpty { change(&bytes) }
    return bytes
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = random.index(below: bytes.count)
    let part = place..<place + 1 + random.index(below: min(24, bytes.count - place))
    switch random.index(below: 8) {
    case 0, 1: bytes[place] ^= 1 << UInt8(random.index(below: 8))
    case 2: bytes[place] = UInt8(truncatingIfNeeded: random.next())
    case 3, 4:
      let number = Self.notable[random.index(below: Self.notable.count)]
      bytes.replaceSubrange(place..<min(place + number.count, bytes.count), with: number)
    case 5: bytes.removeSubrange(random.index(below: 4) == 0 ? place..<bytes.count : part)
    case 6: bytes.insert(contentsOf: bytes[part], at: random.index(below: bytes.count + 1))
    default:
      let other = random.index(below: bytes.count - part.count + 1)
      bytes.replaceSubrange(part, with: bytes[other..<other + part.count])
    }
  }
}
