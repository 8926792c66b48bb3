/// The header of an entry of a tar file, a block of 512 bytes.
///
/// References: IEEE Std 1003.1-2017, `pax`, "ustar Interchange Format"; "Basic Tar Format" of the GNU tar manual.
struct TarHeader {
  static let byteCount = 512

  /// The kind of an entry.
  enum Kind {
    case file, folder
    /// Records of the pax format, for the next entry.
    case records
    /// Records of the pax format, for all entries that follow.
    case commonRecords
    /// The name of the next entry, as GNU tar stores long names.
    case longName
    /// An entry that is not unpacked, in words.
    case other(String)
  }

  let kind: Kind
  let name: [UInt8]
  let size: Int

  private enum Field {
    static let name = 0..<100
    static let size = 124..<136
    static let checksum = 148..<156
    static let type = 156
    static let magic = 257..<263
    static let prefix = 345..<500
  }

  /// Whether a block is the header of an entry, by its checksum.
  static func recognizes(_ block: [UInt8]) -> Bool {
    guard block.count >= byteCount, let stated = number(block[Field.checksum]) else { return false }
    // The checksum is computed with spaces in its own place.
    var sum = 0
    for (index, byte) in block.prefix(byteCount).enumerated() {
      sum += Field.checksum.contains(index) ? 0x20 : Int(byte)
    }
    return sum == stated
  }

  /// Reads a header; nil for a block with a wrong checksum or size.
  init?(_ block: [UInt8]) {
    guard Self.recognizes(block), let size = Self.number(block[Field.size]) else { return nil }
    self.size = size
    var name = Self.string(block[Field.name])
    // GNU tar, whose magic ends in two spaces, has other fields in the place of the prefix.
    if block[Field.magic].elementsEqual("ustar\0".utf8) {
      let prefix = Self.string(block[Field.prefix])
      if !prefix.isEmpty { name = prefix + [UInt8(ascii: "/")] + name }
    }
    self.name = name
    switch block[Field.type] {
    case 0, UInt8(ascii: "0"): kind = name.last == UInt8(ascii: "/") ? .folder : .file
    case UInt8(ascii: "1"): kind = .other("it is a hard link")
    case UInt8(ascii: "2"): kind = .other("it is a symbolic link")
    case UInt8(ascii: "3"), UInt8(ascii: "4"): kind = .other("it is a device")
    case UInt8(ascii: "5"): kind = .folder
    case UInt8(ascii: "6"): kind = .other("it is a pipe")
    case UInt8(ascii: "x"): kind = .records
    case UInt8(ascii: "g"): kind = .commonRecords
    case UInt8(ascii: "L"): kind = .longName
    case UInt8(ascii: "K"): kind = .other("it is a link with a long name")
    case UInt8(ascii: "S"): kind = .other("it is a sparse file")
    case let type: kind = .other("it is an entry of the unknown type \(type)")
    }
  }

  /// Returns the header of a file or folder with a short name, as this program writes it.
  static func block(name: [UInt8], size: Int, type: Character, isFolder: Bool) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: byteCount)
    func put(_ bytes: some Sequence<UInt8>, at offset: Int) {
      for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
    }
    func octal(_ value: Int, digits: Int) -> [UInt8] {
      let text = String(value, radix: 8)
      return [UInt8]((String(repeating: "0", count: max(digits - text.count, 0)) + text).utf8)
    }
    put(name.prefix(Field.name.count), at: Field.name.lowerBound)
    put(octal(isFolder ? 0o755 : 0o644, digits: 7), at: 100)
    put(octal(0, digits: 7), at: 108)
    put(octal(0, digits: 7), at: 116)
    put(octal(size > largestSize ? 0 : size, digits: 11), at: Field.size.lowerBound)
    put(octal(0, digits: 11), at: 136)
    put([UInt8](repeating: 0x20, count: Field.checksum.count), at: Field.checksum.lowerBound)
    block[Field.type] = type.asciiValue ?? 0
    put("ustar\u{0}00".utf8, at: Field.magic.lowerBound)
    put(octal(block.reduce(0) { $0 + Int($1) }, digits: 6) + [0, 0x20], at: Field.checksum.lowerBound)
    return block
  }

  /// The largest size and the longest name that a header holds; beyond them, records state them.
  static let (largestSize, longestName) = (0o77_777_777_777, Field.name.count)

  /// Returns a number: octal digits, or a positive binary number with the first bit set; nil for anything else.
  private static func number(_ field: ArraySlice<UInt8>) -> Int? {
    if let first = field.first, first & 0x80 != 0 {
      guard first == 0x80 else { return nil }
      var value = 0
      for byte in field.dropFirst() {
        guard value < 1 << 54 else { return nil }
        value = value << 8 | Int(byte)
      }
      return value
    }
    let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0x20 && $0 != 0 }
    var value = 0
    for digit in digits {
      guard UInt8(ascii: "0")...UInt8(ascii: "7") ~= digit else { return nil }
      value = value << 3 | Int(digit - UInt8(ascii: "0"))
    }
    return value
  }

  private static func string(_ field: ArraySlice<UInt8>) -> [UInt8] { Array(field.prefix { $0 != 0 }) }
}
