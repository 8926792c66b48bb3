/// Decompression of RFC 1950 and RFC 1951 streams. The output is limited to the expected number of bytes.
struct Inflate {
  /// An error in the stream.
  struct Fault: Error { var reason: String }

  private let bytes: [UInt8]
  private var position: Int
  private var pending: UInt32 = 0
  private var pendingBits = 0
  private var output: [UInt8] = []
  private let limit: Int

  /// Decompresses `data` to exactly `count` bytes.
  ///
  /// - Throws: `Fault` for an invalid stream or a different number of bytes.
  static func zlib(_ data: [UInt8], count: Int) throws(Fault) -> [UInt8] {
    guard data.count > 2, data[0] & 15 == 8, (Int(data[0]) << 8 | Int(data[1])) % 31 == 0, data[1] & 32 == 0 else {
      throw Fault(reason: "its pixels are not a zlib stream as PNG has it")
    }
    var stream = Inflate(bytes: data, position: 2, limit: count)
    try stream.run()
    guard stream.output.count == count else {
      throw Fault(reason: "it has \(stream.output.count) of \(count) bytes of pixels")
    }
    return stream.output
  }

  private init(bytes: [UInt8], position: Int, limit: Int) {
    (self.bytes, self.position, self.limit) = (bytes, position, limit)
    output.reserveCapacity(limit)
  }

  private mutating func run() throws(Fault) {
    var isLast = false
    while !isLast, output.count < limit {
      isLast = try bits(1) == 1
      switch try bits(2) {
      case 0: try stored()
      case 1: try packed(.fixedLiterals, .fixedDistances)
      case 2:
        let (literals, distances) = try codes()
        try packed(literals, distances)
      default: throw Fault(reason: "a block of its pixels has an unknown type")
      }
    }
  }

  private mutating func bits(_ count: Int) throws(Fault) -> Int {
    while pendingBits < count {
      guard position < bytes.count else { throw Fault(reason: "its pixels end too early") }
      pending |= UInt32(bytes[position]) << UInt32(pendingBits)
      position += 1
      pendingBits += 8
    }
    defer {
      pending >>= UInt32(count)
      pendingBits -= count
    }
    return Int(pending & (1 << UInt32(count) - 1))
  }

  private mutating func append(_ byte: UInt8) throws(Fault) {
    guard output.count < limit else { throw Fault(reason: "it has more bytes of pixels than its size says") }
    output.append(byte)
  }

  private mutating func stored() throws(Fault) {
    (pending, pendingBits) = (0, 0)
    let (count, complement) = (try bits(16), try bits(16))
    guard count ^ complement == 0xFFFF, position + count <= bytes.count else {
      throw Fault(reason: "a block of its pixels has no length")
    }
    for byte in bytes[position..<position + count] { try append(byte) }
    position += count
  }

  private mutating func symbol(_ code: PrefixCode) throws(Fault) -> Int {
    var (value, first, index) = (0, 0, 0)
    for length in 1...15 {
      value |= try bits(1)
      let count = code.counts[length]
      if value - first < count { return code.symbols[index + value - first] }
      index += count
      first = (first + count) << 1
      value <<= 1
    }
    throw Fault(reason: "its pixels have an unknown code")
  }

  private mutating func packed(_ literals: PrefixCode, _ distances: PrefixCode) throws(Fault) {
    while true {
      let literal = try symbol(literals)
      if literal == 256 { return }
      if literal < 256 {
        try append(UInt8(literal))
        continue
      }
      guard literal - 257 < Self.lengths.count else { throw Fault(reason: "its pixels have an invalid length code") }
      let length = Self.lengths[literal - 257].base + (try bits(Self.lengths[literal - 257].extra))
      let kind = try symbol(distances)
      guard kind < Self.distances.count else { throw Fault(reason: "its pixels have an invalid distance code") }
      let distance = Self.distances[kind].base + (try bits(Self.distances[kind].extra))
      guard distance <= output.count else { throw Fault(reason: "its pixels repeat bytes before the first one") }
      for _ in 0..<length { try append(output[output.count - distance]) }
    }
  }

  /// Reads the codes of a block with dynamic codes.
  private mutating func codes() throws(Fault) -> (literals: PrefixCode, distances: PrefixCode) {
    let (literals, distances, count) = (257 + (try bits(5)), 1 + (try bits(5)), 4 + (try bits(4)))
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    var lengths = [Int](repeating: 0, count: 19)
    for place in order.prefix(count) { lengths[place] = try bits(3) }
    let code = try PrefixCode(lengths)
    var all: [Int] = []
    while all.count < literals + distances {
      switch try symbol(code) {
      case 16:
        guard let last = all.last else { throw Fault(reason: "its code lengths repeat a length before the first one") }
        all += Array(repeating: last, count: 3 + (try bits(2)))
      case 17: all += Array(repeating: 0, count: 3 + (try bits(3)))
      case 18: all += Array(repeating: 0, count: 11 + (try bits(7)))
      case let length: all.append(length)
      }
    }
    guard all.count == literals + distances else { throw Fault(reason: "it has more codes than it declares") }
    return (try PrefixCode(Array(all.prefix(literals))), try PrefixCode(Array(all.dropFirst(literals))))
  }

  private static let lengths: [(base: Int, extra: Int)] = {
    var (all, base): ([(base: Int, extra: Int)], Int) = ([], 3)
    for extra in [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5] {
      all.append((base, extra))
      base += 1 << extra
    }
    // The largest length has its own code.
    return all + [(258, 0)]
  }()

  private static let distances: [(base: Int, extra: Int)] = {
    var (all, base): ([(base: Int, extra: Int)], Int) = ([], 1)
    for kind in 0..<30 {
      let extra = max(kind / 2 - 1, 0)
      all.append((base, extra))
      base += 1 << extra
    }
    return all
  }()
}

/// A canonical prefix code with lengths of up to 15 bits.
private struct PrefixCode {
  /// The number of codes of each length.
  var counts = [Int](repeating: 0, count: 16)
  /// The symbols in the order of their codes.
  var symbols: [Int] = []

  /// Creates a code from the lengths of its symbols.
  ///
  /// - Throws: `Fault` where the lengths require more codes than exist.
  init(_ lengths: [Int]) throws(Inflate.Fault) {
    for length in lengths { counts[length] += 1 }
    counts[0] = 0
    var left = 1
    for length in 1...15 {
      left = left << 1 - counts[length]
      guard left >= 0 else { throw Inflate.Fault(reason: "it has more codes than their lengths allow") }
    }
    for length in 1...15 { symbols += lengths.indices.filter { lengths[$0] == length } }
  }

  private init(trusted lengths: [Int]) {
    for length in lengths { counts[length] += 1 }
    for length in 1...15 { symbols += lengths.indices.filter { lengths[$0] == length } }
  }

  static let fixedLiterals = PrefixCode(
    trusted: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  static let fixedDistances = PrefixCode(trusted: Array(repeating: 5, count: 30))
}
