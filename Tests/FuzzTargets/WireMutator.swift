import KelvinBasics

/// Changes a protobuf message as a message: fields are taken out, doubled, moved, exchanged, given other numbers and
/// values, at any depth, and all lengths around them are kept right. Bytes changed at random seldom are a message still.
struct WireMutator {
  private enum Payload {
    case number(UInt64)
    /// A fixed-size field of 4 or 8 bytes.
    case fixed([UInt8])
    case bytes([UInt8])
    case message([Field])
  }

  private struct Field {
    var number: UInt64
    var payload: Payload
  }

  private static let depthLimit = 24
  private static let fieldLimit = 1 << 14
  private static let notable: [UInt64] = [
    0, 1, 2, 7, 16, 0x7F, 0xFF, 0x7FFF, 1 << 16, 1 << 20, 1 << 31, 1 << 32, 1 << 40, 1 << 62, 1 << 63, .max,
  ]

  private var random: SeededGenerator
  private var fieldCount = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Returns another message; nil if the bytes are not a message.
  ///
  /// - Parameter leaf: mutates the bytes of a string or of packed numbers.
  mutating func mutated(_ bytes: UnsafeRawBufferPointer, leaf: ([UInt8]) -> [UInt8]) -> [UInt8]? {
    guard var fields = parse(bytes[...], depth: 0), !fields.isEmpty else { return nil }
    for _ in 0...random.index(below: 3) { change(&fields, leaf: leaf) }
    var result: [UInt8] = []
    write(fields, to: &result)
    return result
  }

  private mutating func parse(_ bytes: Slice<UnsafeRawBufferPointer>, depth: Int) -> [Field]? {
    var (rest, fields) = (bytes, [Field]())
    while !rest.isEmpty {
      guard let tag = Self.varint(&rest), tag >> 3 > 0, tag >> 3 < 1 << 29, fieldCount < Self.fieldLimit else {
        return nil
      }
      fieldCount += 1
      let payload: Payload
      switch tag & 7 {
      case 0:
        guard let number = Self.varint(&rest) else { return nil }
        payload = .number(number)
      case 1, 5:
        let count = tag & 7 == 1 ? 8 : 4
        guard rest.count >= count else { return nil }
        payload = .fixed(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      case 2:
        guard let count = Self.varint(&rest), count <= UInt64(rest.count) else { return nil }
        let inner = rest.prefix(Int(count))
        rest = rest.dropFirst(Int(count))
        // Bytes that parse as a message and are not a string are most likely a message.
        if depth < Self.depthLimit, inner.count > 1, inner.contains(where: { $0 < 0x20 }),
          let message = parse(inner, depth: depth + 1)
        {
          payload = .message(message)
        } else {
          payload = .bytes(Array(inner))
        }
      default: return nil
      }
      fields.append(Field(number: tag >> 3, payload: payload))
    }
    return fields
  }

  private static func varint(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> UInt64? {
    var value: UInt64 = 0
    for (index, byte) in bytes.prefix(10).enumerated() {
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      if byte < 0x80 {
        bytes = bytes.dropFirst(index + 1)
        return value
      }
    }
    return nil
  }

  private mutating func change(_ fields: inout [Field], leaf: ([UInt8]) -> [UInt8]) {
    guard !fields.isEmpty else { return }
    let place = random.index(below: fields.count)
    if case .message(var inner) = fields[place].payload, random.index(below: 4) > 0 {
      change(&inner, leaf: leaf)
      fields[place].payload = .message(inner)
      return
    }
    let other = random.index(below: fields.count)
    switch random.index(below: 8) {
    case 0: fields.remove(at: place)
    case 1: fields.insert(fields[place], at: other)
    case 2: fields.swapAt(place, other)
    case 3: fields[place].payload = fields[other].payload
    case 4: fields[place].number = 1 + UInt64(random.index(below: 40))
    case 5: fields += [Field](repeating: fields[place], count: 1 + random.index(below: 20))
    default: fields[place].payload = changed(fields[place].payload, leaf: leaf)
    }
  }

  private mutating func changed(_ payload: Payload, leaf: ([UInt8]) -> [UInt8]) -> Payload {
    switch payload {
    case .number(let number):
      switch random.index(below: 4) {
      case 0: .number(number &+ 1)
      case 1: .number(number &- 1)
      case 2: .number(number ^ 1 << UInt64(random.index(below: 64)))
      default: .number(Self.notable[random.index(below: Self.notable.count)])
      }
    case .fixed(let bytes):
      .fixed(bytes.map { random.index(below: 2) == 0 ? $0 : UInt8(truncatingIfNeeded: random.next()) })
    case .bytes(let bytes): .bytes(leaf(bytes))
    case .message(let fields): .message(fields + fields)
    }
  }

  private func write(_ fields: [Field], to bytes: inout [UInt8]) {
    func varint(_ value: UInt64) {
      var value = value
      while value > 0x7F {
        bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
        value >>= 7
      }
      bytes.append(UInt8(value))
    }
    for field in fields {
      switch field.payload {
      case .number(let number):
        varint(field.number << 3)
        varint(number)
      case .fixed(let content):
        varint(field.number << 3 | (content.count == 8 ? 1 : 5))
        bytes += content
      case .bytes(let content):
        varint(field.number << 3 | 2)
        varint(UInt64(content.count))
        bytes += content
      case .message(let inner):
        var content: [UInt8] = []
        write(inner, to: &content)
        varint(field.number << 3 | 2)
        varint(UInt64(content.count))
        bytes += content
      }
    }
  }
}
