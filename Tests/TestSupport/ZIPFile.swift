import CKelvinSupport

/// A ZIP file for tests, written field by field; reference: APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16.
package struct ZIPFile {
  package private(set) var files: [UInt8] = []
  private var directory: [UInt8] = []
  private var count = 0

  package init() {}

  /// A ZIP file of all files below a folder, with paths that begin with `name`.
  package init(folder: String, as name: String, deflated: Bool) {
    for path in TemporaryFolder.files(folder).sorted() {
      add("\(name)\(path.dropFirst(folder.count))", TemporaryFolder.read(path), deflated: deflated)
    }
  }

  /// - Parameters:
  ///   - flags: the general purpose flags; bit 0 is encryption.
  ///   - size: the size that the entry states; nil for the true one.
  package mutating func add(_ path: String, _ bytes: [UInt8], deflated: Bool = false, flags: Int = 0, size: Int? = nil)
  {
    let packed = deflated ? Self.deflated(bytes) : bytes
    let name = Array(path.utf8)
    let common =
      number(flags, 2) + number(deflated ? 8 : 0, 2) + number(0, 4) + number(Int(kelvin_crc32(bytes, bytes.count)), 4)
      + number(packed.count, 4) + number(size ?? bytes.count, 4) + number(name.count, 2) + number(0, 2)
    directory +=
      number(0x0201_4b50, 4) + number(20, 2) + number(20, 2) + common + number(0, 10) + number(files.count, 4) + name
    files += number(0x0403_4b50, 4) + number(20, 2) + common + name + packed
    count += 1
  }

  package var bytes: [UInt8] {
    files + directory + number(0x0605_4b50, 4) + number(0, 4) + number(count, 2) + number(count, 2)
      + number(directory.count, 4) + number(files.count, 4) + number(0, 2)
  }

  /// The stream of RFC 1951 within one of RFC 1950: without its first two and last four bytes.
  private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    let stream = [UInt8](unsafeUninitializedCapacity: kelvin_deflate_room(bytes.count)) { target, count in
      count = kelvin_deflate(bytes, bytes.count, target.baseAddress)
    }
    return Array(stream.dropFirst(2).dropLast(4))
  }

  private func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : 0 }
  }
}
