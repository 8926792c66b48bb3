/// A tar file for tests, written field by field; reference: IEEE Std 1003.1-2017, "ustar Interchange Format".
struct TarFile {
  private(set) var blocks: [UInt8] = []

  /// - Parameters:
  ///   - type: the type of the entry: `0` is a file, `5` a folder, `2` a symbolic link.
  ///   - size: the size that the header states; nil for the true one.
  mutating func add(
    _ name: String, _ bytes: [UInt8] = [], type: Character = "0", size: Int? = nil, link: String = ""
  ) {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at offset: Int) {
      for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
    }
    put(name, at: 0)
    put("0000644", at: 100)
    put("0000000", at: 108)
    put("0000000", at: 116)
    let digits = String(size ?? bytes.count, radix: 8)
    put(String(repeating: "0", count: 11 - digits.count) + digits, at: 124)
    put("00000000000", at: 136)
    put("        ", at: 148)
    put(String(type), at: 156)
    put(link, at: 157)
    put("ustar", at: 257)
    put("00", at: 263)
    let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
    put(String(repeating: "0", count: 6 - sum.count) + sum + "\0 ", at: 148)
    blocks += block + bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
  }

  /// Adds a record of pax for the next entry.
  mutating func addRecord(_ key: String, _ value: [UInt8], type: Character = "x") {
    let rest = Array(" \(key)=".utf8) + value + [0x0A]
    var length = rest.count + 1
    while "\(length)".utf8.count + rest.count != length { length += 1 }
    add("record", Array("\(length)".utf8) + rest, type: type)
  }

  /// The file with its end, two blocks of zeros.
  var bytes: [UInt8] { blocks + [UInt8](repeating: 0, count: 1024) }
}
