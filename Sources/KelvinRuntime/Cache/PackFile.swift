import CKelvinSupport
import KelvinDevices
package import KelvinGraph
import Synchronization

/// A page-aligned part of a pack file, with the hash it was written with.
package struct PackRegion {
  let bytes: Bytes
  let hash: PackHash
  private let relied: VerifiedRegions

  /// Creates a region of new contents.
  init(_ bytes: Bytes, seed: UInt64) {
    self.init(bytes, hash: PackHash(bytes, seed: seed), VerifiedRegions())
  }

  fileprivate init(_ bytes: Bytes, hash: PackHash, _ relied: VerifiedRegions) {
    self.bytes = bytes
    self.hash = hash
    self.relied = relied
  }

  /// Whether the region still matches its hash. If so, later changes to it are detected from then on. Reads the whole
  /// region.
  package func isIntact(seed: UInt64) -> Bool {
    let isIntact = PackHash(bytes, seed: seed) == hash
    if isIntact { relied.add(VerifiedRegions.Region(place: bytes.offset, byteCount: bytes.count, hash: hash)) }
    return isIntact
  }
}

/// The regions of a pack file that were found intact and are in use. Other regions may be damaged; they are not used.
private final class VerifiedRegions: Sendable {
  struct Region: Hashable {
    let place: Int
    let byteCount: Int
    let hash: PackHash
  }

  private let regions = Mutex<Set<Region>>([])

  func add(_ region: Region) { regions.withLock { _ = $0.insert(region) } }

  /// Whether all regions are still intact in `file`.
  func hold(in file: Bytes, seed: UInt64) -> Bool {
    regions.withLock(\.self).allSatisfy { region in
      file.slice(offset: region.place, count: region.byteCount).map { PackHash($0, seed: seed) == region.hash } ?? false
    }
  }
}

/// The XXH3-128 hash of a region, fast enough to be limited by memory bandwidth.
struct PackHash: Hashable {
  let low: UInt64
  let high: UInt64

  init(_ bytes: Bytes, seed: UInt64) {
    let hash = kelvin_hash(bytes.baseAddress, bytes.count, seed)
    (low, high) = (hash.low, hash.high)
  }

  init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }
}

/// A file of named, page-aligned byte regions, made to be mapped.
///
/// Layout, little-endian: magic (8 bytes), format version and entry count (4 each), the index's length (8), and the
/// cache's authentication code of all this and the index (32). The index has for each entry its key's length (4), the
/// key, offset and size (8 each) and the region's hash (16). The regions follow, each at a multiple of 4096. A file
/// with a wrong code or wrong offsets is ignored. A region is checked against its hash at its first use.
package struct PackFile {
  static let alignment = 4096
  private static let magic: [UInt8] = Array("KELVPACK".utf8)
  private static let version: UInt32 = 2
  private static let sealedSize = 24
  private static let headerSize = sealedSize + Digest.byteCount

  /// The whole file, mapped.
  let contents: Bytes
  /// The regions by key.
  package let regions: [String: PackRegion]
  /// The seed of the regions' hashes.
  package let seed: UInt64

  /// Reads the file of a name; nil if it is missing or not trusted.
  static func read(_ name: String, from directory: CacheDirectory) -> PackFile? {
    guard let folder = directory.current(creates: false) else { return nil }
    return read(name, from: directory, folder)
  }

  /// Does the same as `read(_:from:)`, in a folder that the caller opened before.
  static func read(_ name: String, from directory: CacheDirectory, _ folder: CacheFolder) -> PackFile? {
    guard let file = directory.read(name, isMapped: true, in: folder) else { return nil }
    guard let secret = directory.secret(of: folder, creates: false), let pack = PackFile(file, name, secret) else {
      directory.noteDamage(name, "in the cache was damaged or changed, and is made again")
      return nil
    }
    return pack
  }

  /// Reads the regions of a file; nil if this cache did not write the file under this name.
  package init?(_ file: Bytes, _ name: String, _ secret: CacheSecret) {
    guard file.count >= Self.headerSize else { return nil }
    (contents, seed) = (file, secret.seed)
    let places: [Place]? = file.withUnsafeBytes { raw in
      guard raw.starts(with: Self.magic), raw.loadUnaligned(fromByteOffset: 8, as: UInt32.self) == Self.version else {
        return nil
      }
      let length = raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
      guard length <= UInt64(raw.count - Self.headerSize) else { return nil }
      let head = UnsafeRawBufferPointer(rebasing: raw[..<Self.sealedSize])
      let index = UnsafeRawBufferPointer(rebasing: raw[Self.headerSize..<Self.headerSize + Int(length)])
      guard CacheSecret.areEqual(raw[Self.sealedSize..<Self.headerSize], secret.code(name, [head, index])) else {
        return nil
      }
      return Self.places(in: index, count: Int(raw.loadUnaligned(fromByteOffset: 12, as: UInt32.self)))
    }
    guard let places else { return nil }
    var regions: [String: PackRegion] = [:]
    let relied = VerifiedRegions()
    for place in places {
      guard let offset = Int(exactly: place.offset), let size = Int(exactly: place.size), offset % Self.alignment == 0,
        let bytes = file.slice(offset: offset, count: size)
      else { return nil }
      regions[place.key] = PackRegion(bytes, hash: place.hash, relied)
    }
    self.regions = regions
    let seed = seed
    file.recognize { relied.hold(in: $0, seed: seed) }
  }

  private struct Place {
    var key: String
    var offset: UInt64
    var size: UInt64
    var hash: PackHash
  }

  private static func places(in index: UnsafeRawBufferPointer, count: Int) -> [Place]? {
    var places: [Place] = []
    var position = 0
    for _ in 0..<count {
      guard position + 4 <= index.count else { return nil }
      let keyLength = Int(index.loadUnaligned(fromByteOffset: position, as: UInt32.self))
      position += 4
      guard keyLength <= index.count - position, index.count - position - keyLength >= 32 else { return nil }
      let key = String(decoding: index[position..<position + keyLength], as: UTF8.self)
      position += keyLength
      func word(_ number: Int) -> UInt64 { index.loadUnaligned(fromByteOffset: position + 8 * number, as: UInt64.self) }
      places.append(
        Place(key: key, offset: word(0), size: word(1), hash: PackHash(low: word(2), high: word(3))))
      position += 32
    }
    return places
  }

  /// Calls `body` with the parts of a file of these regions. Hashes are kept as they are, so that damaged regions
  /// remain recognizable.
  ///
  /// - Parameter body: uses the parts, which are valid only during the call.
  static func withParts<Result>(
    of regions: [String: PackRegion], _ name: String, _ secret: CacheSecret,
    _ body: ([UnsafeRawBufferPointer]) -> Result
  ) -> Result {
    let ordered = regions.sorted { $0.key < $1.key }
    let indexSize = ordered.reduce(0) { $0 + 4 + $1.key.utf8.count + 32 }
    func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }
    var index: [UInt8] = []
    var place = aligned(headerSize + indexSize)
    var gaps = [place - headerSize - indexSize]
    func append(_ value: some FixedWidthInteger, _ bytes: inout [UInt8]) {
      withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) }
    }
    for (key, region) in ordered {
      append(UInt32(key.utf8.count), &index)
      index += Array(key.utf8)
      append(UInt64(place), &index)
      append(UInt64(region.bytes.count), &index)
      append(region.hash.low, &index)
      append(region.hash.high, &index)
      let end = place + region.bytes.count
      place = aligned(end)
      gaps.append(place - end)
    }
    var header = magic
    append(version, &header)
    append(UInt32(ordered.count), &header)
    append(UInt64(index.count), &header)
    header += header.withUnsafeBytes { head in index.withUnsafeBytes { secret.code(name, [head, $0]) } }
    let head = Bytes(header + index)
    let zeros = Bytes(count: alignment) { _ in }
    func part(_ bytes: Bytes, _ count: Int? = nil) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: bytes.baseAddress, count: count ?? bytes.count)
    }
    var parts = [part(head), part(zeros, gaps[0])]
    for (gap, entry) in zip(gaps.dropFirst(), ordered) { parts += [part(entry.value.bytes), part(zeros, gap)] }
    return withExtendedLifetime((head, zeros, regions)) { body(parts) }
  }
}
