/// Writes small TIFFs, entry by entry. Reference: TIFF 6.0.
struct TIFFFile {
  /// 3 for numbers of two bytes, 4 for numbers of four bytes.
  private var entries: [(tag: Int, type: Int, values: [Int])] = []
  /// The bytes after the header.
  private(set) var data: [UInt8] = []
  private static let headerSize = 8

  static func littleEndian(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// Adds bytes.
  ///
  /// - Returns: their place in the file.
  mutating func add(_ bytes: [UInt8]) -> Int {
    defer { data += bytes + (bytes.count % 2 == 0 ? [] : [0]) }
    return Self.headerSize + data.count
  }

  mutating func entry(_ tag: Int, _ values: Int..., type: Int = 3) { entry(tag, values, type: type) }
  mutating func entry(_ tag: Int, _ values: [Int], type: Int = 3) { entries.append((tag, type, values)) }

  mutating func replace(_ tag: Int, _ value: Int) {
    for index in entries.indices where entries[index].tag == tag { entries[index].values = [value] }
  }

  /// The offset of the directory.
  var directory: Int { Self.headerSize + data.count }

  /// The file: header, data, directory.
  var bytes: [UInt8] {
    let end = directory + 2 + 12 * entries.count + 4
    var values: [UInt8] = []
    var table = Self.littleEndian(entries.count, 2)
    for entry in entries.sorted(by: { $0.tag < $1.tag }) {
      let size = entry.type == 3 ? 2 : entry.type == 4 ? 4 : 1
      let bytes = entry.values.flatMap { Self.littleEndian($0, size) }
      table += Self.littleEndian(entry.tag, 2) + Self.littleEndian(entry.type, 2)
      table += Self.littleEndian(entry.values.count, 4)
      if bytes.count > 4 {
        table += Self.littleEndian(end + values.count, 4)
        values += bytes
      } else {
        table += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
      }
    }
    return Array("II".utf8) + [42, 0] + Self.littleEndian(directory, 4) + data + table + [0, 0, 0, 0] + values
  }
}
