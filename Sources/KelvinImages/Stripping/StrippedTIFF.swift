/// Returns a TIFF's first page. Its parts keep their file offsets; the bytes between them are zeros that take no
/// memory. Reference: Adobe, "TIFF", revision 6.0.
func strippedTIFF(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  var page = try TIFFPage(source, limits)
  try page.readDirectory()
  try page.keepValues()
  try page.keepPixels()
  try page.keepTables()
  try page.writeDirectory()
  return StrippedImage(page.kept, orientation: page.orientation)
}

private struct TIFFPage {
  private struct Entry {
    /// The offset of the entry in the file.
    var start: Int
    var tag: Int
    var size: Int
    var count: Int
    /// The range of the values, inside or outside the directory.
    var place: Range<Int>

    static let orientation = 274
    static let profile = 34675
    /// Returns whether a tag determines the pixels or their meaning: baseline tags, and extensions for tiles, fax, JPEG
    /// and YCbCr.
    static func isNeeded(_ tag: Int) -> Bool {
      switch tag {
      case 254...266, 273...284, 290...293, 301, 317...325, 332...341, 347, 512...532, profile, 34676...34677: true
      default: false
      }
    }
  }

  let kept: EncodedBytes
  private(set) var orientation: ImageOrientation?
  private let source: ImageSource
  private var limits: ImageLimits
  private let isLittleEndian: Bool
  private var entries: [Entry] = []
  private var keptCount = 0
  private var directory = 0..<0
  private static let headerSize = 8
  /// The sizes of an offset, of the number of entries, and of an entry, in bytes.
  private static let (word, countSize, entrySize) = (4, 2, 12)

  init(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) {
    self.source = source
    self.limits = limits
    let head = try source.bytes(at: 0, atMost: Self.headerSize)
    guard head.count == Self.headerSize else { throw source.ended("its header") }
    isLittleEndian = head[0] == 0x49
    kept = try EncodedBytes(zeros: source.count, name: source.name)
  }

  private func number(_ at: Int, _ size: Int) throws(ImageError) -> Int {
    let bytes = try source.bytes(at: at, atMost: size)
    guard bytes.count == size else { throw source.ended("its directory") }
    let value = (isLittleEndian ? bytes.reversed() : bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(clamping: value)
  }

  /// Copies a part of the file to the same offset.
  private mutating func keep(_ range: Range<Int>) throws(ImageError) {
    guard range.lowerBound >= 0, range.upperBound <= source.count else { throw source.ended("the image") }
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

  /// Reads the required entries of the first directory.
  mutating func readDirectory() throws(ImageError) {
    let start = try number(4, Self.word)
    guard start <= source.count - Self.countSize else { throw source.ended("its directory") }
    let count = try number(start, Self.countSize)
    let end = start + Self.countSize + count * Self.entrySize + Self.word
    guard count <= 4096, end <= source.count else { throw source.ended("its directory") }
    directory = start..<end
    for index in 0..<count {
      let entry = try entry(at: start + Self.countSize + index * Self.entrySize)
      guard Entry.isNeeded(entry.tag) else { continue }
      if entry.tag == Entry.orientation {
        orientation = ImageOrientation(rawValue: try number(entry.place.lowerBound, min(entry.size, 2)))
      }
      if entry.tag == Entry.profile { try limits.checkProfile(entry.place.count) }
      entries.append(entry)
    }
    try takeSize()
  }

  /// Copies the values of entries that are outside the directory.
  mutating func keepValues() throws(ImageError) {
    for entry in entries where entry.place.count > Self.word { try keep(entry.place) }
  }

  /// Writes the header, and the directory with the required entries and no successor. This is the last step, because an
  /// overlapping part of the image would restore omitted entries.
  mutating func writeDirectory() throws(ImageError) {
    try keep(0..<Self.headerSize)
    kept.slots(directory).initializeMemory(as: UInt8.self, repeating: 0)
    write(entries.count, directory.lowerBound, Self.countSize)
    var target = directory.lowerBound + Self.countSize
    for entry in entries {
      try source.read(at: entry.start, into: kept.slots(target..<target + Self.entrySize))
      target += Self.entrySize
    }
  }

  private func entry(at place: Int) throws(ImageError) -> Entry {
    let word = Self.word
    let type = try number(place + 2, 2)
    let size = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]
    let count = try number(place + 4, word)
    let each = type < size.count ? size[type] : 0
    let (bytes, overflow) = count.multipliedReportingOverflow(by: each)
    let inline = place + 4 + word
    let start = !overflow && bytes <= word ? inline : try number(inline, word)
    guard !overflow, bytes <= source.count, start <= source.count - bytes else {
      // Entries that are not required may have invalid offsets.
      let tag = try number(place, 2)
      guard !Entry.isNeeded(tag) else { throw source.ended("its entry \(tag)") }
      return Entry(start: place, tag: tag, size: each, count: 0, place: inline..<inline)
    }
    return Entry(start: place, tag: try number(place, 2), size: each, count: count, place: start..<start + bytes)
  }

  private mutating func takeSize() throws(ImageError) {
    try limits.setSize(try values(256).first ?? 0, try values(257).first ?? 0)
  }

  /// Returns the numbers of an entry; none where the entry does not exist.
  private func values(_ tag: Int) throws(ImageError) -> [Int] {
    guard let entry = entries.first(where: { $0.tag == tag }), entry.size > 0 else { return [] }
    guard entry.count <= ImageLimits.parts else { throw source.corrupt("its entry \(tag) has \(entry.count) values") }
    var values: [Int] = []
    for index in 0..<entry.count { values.append(try number(entry.place.lowerBound + index * entry.size, entry.size)) }
    return values
  }

  /// Copies the headers and tables of old-style JPEG (compression 6): one stream, or separate tables at their own
  /// offsets. Reference: TIFF 6.0, 22.
  ///
  /// - Throws: `unknownFormat` for YCbCr (interpretation 6), which decoders misinterpret as RGB.
  mutating func keepTables() throws(ImageError) {
    guard try values(259).first == 6 else { return }
    guard try values(262).first != 6 else {
      throw ImageError(
        .unknownFormat, source.name, "its pixels are in TIFF's old style of JPEG, in YCbCr",
        remedy: "convert it to PNG or JPEG")
    }
    if let start = try values(513).first, start > 0, start <= source.count {
      let rest = source.count - start
      try keep(start..<start + min(rest, try values(514).first ?? rest))
    }
    for start in try values(519) { try keepTable(start, 64) }
    for start in try values(520) + values(521) {
      // A table consists of the number of codes of each length, followed by their values.
      let counts = try source.bytes(at: start, atMost: 16)
      try keepTable(start, 16 + counts.reduce(0) { $0 + Int($1) })
    }
  }

  private mutating func keepTable(_ start: Int, _ size: Int) throws(ImageError) {
    guard start <= source.count else { throw source.ended("its tables") }
    try keep(start..<min(source.count, start + size))
  }

  /// Copies the strips or tiles to which the directory refers.
  mutating func keepPixels() throws(ImageError) {
    for (offsets, counts) in [(273, 279), (324, 325)] {
      guard let places = entries.first(where: { $0.tag == offsets }) else { continue }
      let sizes = entries.first { $0.tag == counts }
      try limits.add(parts: places.count)
      for index in 0..<places.count {
        let start = try number(places.place.lowerBound + index * places.size, places.size)
        guard start <= source.count else { throw source.ended("its pixels") }
        // Without a size, a strip extends to the end of the file.
        var size = source.count - start
        if let sizes, index < sizes.count {
          size = min(size, try number(sizes.place.lowerBound + index * sizes.size, sizes.size))
        }
        try keep(start..<start + size)
      }
    }
  }
}
