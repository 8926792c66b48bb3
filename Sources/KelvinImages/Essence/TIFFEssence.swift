/// A TIFF's first page, every part at its own place in a file whose rest is zeros that take no memory. Reference: Adobe,
/// "TIFF", revision 6.0.
func tiffEssence(_ source: PictureSource, _ limits: PictureLimits) throws(ImageError) -> PictureEssence {
  var page = try TIFFPage(source, limits)
  try page.keepDirectory()
  try page.keepPixels()
  return PictureEssence(page.kept, orientation: page.orientation)
}

private struct TIFFPage {
  private struct Entry {
    var tag: Int
    var size: Int
    var count: Int
    /// Of its values, in the directory or outside.
    var place: Range<Int>

    static let orientation = 274
    static let profile = 34675
    static let offsets: Set<Int> = [273, 324]
    static let byteCounts: Set<Int> = [279, 325]
    /// Those that say where the pixels are and what they mean: baseline, extensions to tiles, fax, JPEG and YCbCr.
    static func isNeeded(_ tag: Int) -> Bool {
      switch tag {
      case 254...266, 273...284, 290...293, 301, 317...325, 332...341, 347, 512...532, profile, 34676...34677: true
      default: false
      }
    }
  }

  let kept: EncodedBytes
  private(set) var orientation: ImageOrientation?
  private let source: PictureSource
  private var limits: PictureLimits
  private let isLittleEndian: Bool
  private var entries: [Entry] = []
  private var keptCount = 0
  /// Parts of a page that are looked for.
  private static let mostStrips = 1 << 18

  init(_ source: PictureSource, _ limits: PictureLimits) throws(ImageError) {
    self.source = source
    self.limits = limits
    let head = try source.bytes(at: 0, atMost: 8)
    guard head.count == 8 else { throw source.ended("its header") }
    isLittleEndian = head[0] == 0x49
    kept = try EncodedBytes(zeros: source.count, name: source.name)
  }

  private func number(_ at: Int, _ size: Int) throws(ImageError) -> Int {
    let bytes = try source.bytes(at: at, atMost: size)
    guard bytes.count == size else { throw source.ended("its directory") }
    let value = (isLittleEndian ? bytes.reversed() : bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(clamping: value)
  }

  /// Puts a part of the file at its place.
  private mutating func keep(_ range: Range<Int>) throws(ImageError) {
    guard range.lowerBound >= 0, range.upperBound <= source.count else { throw source.ended("the picture") }
    keptCount += range.count
    try limits.check(keptCount)
    try source.read(at: range.lowerBound, into: kept.slots(range))
  }

  private mutating func write(_ value: Int, _ at: Int, _ size: Int) {
    for index in 0..<size {
      let shift = 8 * (isLittleEndian ? index : size - 1 - index)
      kept.slots(at + index..<at + index + 1)[0] = UInt8(truncatingIfNeeded: value >> shift)
    }
  }

  /// The header and the first directory, with the entries that are needed and no directory after it.
  mutating func keepDirectory() throws(ImageError) {
    let (word, countSize, entrySize) = (4, 2, 12)
    try keep(0..<8)
    let directory = try number(4, word)
    guard directory <= source.count - countSize else { throw source.ended("its directory") }
    let count = try number(directory, countSize)
    guard count <= 4096, directory + countSize + count * entrySize + word <= source.count else {
      throw source.ended("its directory")
    }
    var target = directory + countSize
    for index in 0..<count {
      let place = directory + countSize + index * entrySize
      let entry = try entry(at: place, word)
      guard Entry.isNeeded(entry.tag) else { continue }
      if entry.tag == Entry.orientation {
        orientation = ImageOrientation(rawValue: try number(entry.place.lowerBound, min(entry.size, 2)))
      }
      if entry.tag == Entry.profile { try limits.checkProfile(entry.place.count) }
      var bytes = try source.bytes(at: place, atMost: entrySize)
      kept.slots(target..<target + entrySize).copyMemory(
        from: bytes.withUnsafeMutableBytes { UnsafeRawBufferPointer($0) })
      entries.append(entry)
      target += entrySize
    }
    write(entries.count, directory, countSize)
    write(0, target, word)
    try takeSize()
    for entry in entries where entry.place.count > word { try keep(entry.place) }
  }

  private func entry(at place: Int, _ word: Int) throws(ImageError) -> Entry {
    let type = try number(place + 2, 2)
    let size = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]
    let count = try number(place + 4, word)
    let each = type < size.count ? size[type] : 0
    let (bytes, overflow) = count.multipliedReportingOverflow(by: each)
    let inline = place + 4 + word
    let start = !overflow && bytes <= word ? inline : try number(inline, word)
    guard !overflow, bytes <= source.count, start <= source.count - bytes else {
      // What is not needed may lie anywhere; what is needed may not.
      let tag = try number(place, 2)
      guard !Entry.isNeeded(tag) else { throw source.ended("its entry \(tag)") }
      return Entry(tag: tag, size: each, count: 0, place: inline..<inline)
    }
    return Entry(tag: try number(place, 2), size: each, count: count, place: start..<start + bytes)
  }

  private mutating func takeSize() throws(ImageError) {
    func value(_ tag: Int) throws(ImageError) -> Int {
      guard let entry = entries.first(where: { $0.tag == tag }), entry.count > 0, entry.size > 0 else { return 0 }
      return try number(entry.place.lowerBound, entry.size)
    }
    try limits.setSize(try value(256), try value(257))
  }

  /// The strips or tiles that the directory refers to.
  mutating func keepPixels() throws(ImageError) {
    for (offsets, counts) in [(273, 279), (324, 325)] {
      guard let places = entries.first(where: { $0.tag == offsets }) else { continue }
      let sizes = entries.first { $0.tag == counts }
      guard places.count <= Self.mostStrips else { throw source.corrupt("it has \(places.count) strips or tiles") }
      for index in 0..<places.count {
        let start = try number(places.place.lowerBound + index * places.size, places.size)
        guard start <= source.count else { throw source.ended("its pixels") }
        // Without sizes a strip goes on to the end.
        var size = source.count - start
        if let sizes, index < sizes.count {
          size = min(size, try number(sizes.place.lowerBound + index * sizes.size, sizes.size))
        }
        try keep(start..<start + size)
      }
    }
  }
}
