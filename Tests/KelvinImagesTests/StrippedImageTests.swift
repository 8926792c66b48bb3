import Glibc
import KelvinBasics
import KelvinImages
import TestSupport
import Testing

/// Images whose files hold more than an image.
@Suite(.serialized, .enabled(if: decoderMissing == nil, "libvips is not installed"))
struct StrippedImageTests {
  static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    func word(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in Array(type.utf8) + data {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }
    return word(data.count) + Array(type.utf8) + data + word(Int(~crc))
  }

  /// Chunks right behind a PNG's header.
  static func png(_ file: [UInt8], with chunks: [UInt8]) -> [UInt8] {
    Array(file.prefix(33) + chunks + file.dropFirst(33))
  }

  /// A zlib stream of stored blocks and, behind them, `runs` repetitions of 258 zeros.
  static func bomb(_ runs: Int) -> [UInt8] {
    // One block of fixed codes: a literal zero, then length 258 (8 bits 11000101) at distance 1 (5 bits 00000).
    var bits: [Bool] = [true, true, false] + [0, 0, 1, 1, 0, 0, 0, 0].map { $0 == 1 }
    bits.reserveCapacity(runs * 13 + 64)
    for _ in 0..<runs { bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0].map { $0 == 1 } }
    bits += [Bool](repeating: false, count: 7)
    var bytes: [UInt8] = [0x78, 0x9C]
    for start in stride(from: 0, to: bits.count, by: 8) {
      var byte: UInt8 = 0
      for bit in start..<min(start + 8, bits.count) where bits[bit] { byte |= 1 << UInt8(bit - start) }
      bytes.append(byte)
    }
    let (count, mod) = (runs * 258 + 1, 65521)
    return bytes + [UInt8(count % mod >> 8), UInt8(count % mod & 255), 0, 1]
  }

  @Test func textChunksTakeNoMemory() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      let plain = try ImageCodec.encode(try noise(16, 16, .rgb8, seed: 1))
      _ = try ImageCodec.decode(plain, name: "plain")
      let bomb = StrippedImageTests.bomb(30_000)
      var chunks: [UInt8] = []
      for index in 0..<60 {
        chunks += StrippedImageTests.chunk("zTXt", Array("Comment\0\0".utf8) + bomb)
        chunks += StrippedImageTests.chunk("iTXt", Array("C\(index)\0\u{1}\0\0\0".utf8) + bomb)
      }
      let file = StrippedImageTests.png(plain, with: chunks)
      let before = process.peakByteCount
      let decoded = try ImageCodec.decode(file, name: "text.png")
      #expect(try decoded.pixels == ImageCodec.decode(plain, name: "plain").pixels)
      #expect(process.peakByteCount - before < 16 << 20, "\(process.peakByteCount - before)")
    }
  }

  @Test(arguments: ["png", "jpeg"])
  func paddingAndTrailingDataAreNotRead(kind: String) async {
    await #expect(processExitsWith: .success) { [kind] in
      let process = OwnProcess()
      let image = try noise(16, 16, .rgb8, seed: 2)
      let plain = try ImageCodec.encode(image, as: kind == "png" ? .png : .jpeg(quality: 90))
      _ = try ImageCodec.decode(plain, name: "plain")
      var template = Array("/tmp/kelvin-image-XXXXXX".utf8CString)
      let descriptor = mkstemp(&template)
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      defer {
        close(descriptor)
        unlink(path)
      }
      let head =
        kind == "png" ? Array(plain.prefix(33)) + [0x2F, 0, 0, 0] + Array("juNk".utf8) : Array(plain.prefix(2))
      var file = head
      if kind == "jpeg" {
        for _ in 0..<2000 { file += [0xFF, 0xED, 0xFF, 0xFF] + [UInt8](repeating: 9, count: 0xFFFD) }
        file += plain.dropFirst(2)
        #expect(write(descriptor, file, file.count) == file.count)
      } else {
        #expect(write(descriptor, head, head.count) == head.count)
        let rest = [0, 0, 0, 0] + Array(plain.dropFirst(33))
        #expect(pwrite(descriptor, rest, rest.count, off_t(head.count + 0x2F00_0000)) == rest.count)
      }
      // Zeros behind the end, as a hole in the file.
      #expect(ftruncate(descriptor, 1 << 30) == 0)
      file = []
      let before = process.peakByteCount
      #expect(try ImageCodec.decode(path: path).pixels == ImageCodec.decode(plain, name: "plain").pixels)
      #expect(process.residentByteCount - before < 16 << 20)
      #expect(
        process.peakByteCount - before < (kind == "png" ? 16 << 20 : 32 << 20), "\(process.peakByteCount - before)")
    }
  }

  @Test func tooMuchDataForTheImageSizeIsRefused() throws {
    let plain = try ImageCodec.encode(try noise(4, 4, .rgb8, seed: 3))
    let many = StrippedImageTests.png(
      plain, with: (0..<90).flatMap { _ in Self.chunk("IDAT", [UInt8](repeating: 0, count: 1 << 16)) })
    let profile = StrippedImageTests.png(plain, with: Self.chunk("iCCP", [UInt8](repeating: 0, count: 5 << 20)))
    for file in [many, profile] {
      let error = #expect(throws: ImageError.self) { try ImageCodec.decode(file, name: "fat.png") }
      #expect(error?.code == .tooLarge, "\(String(describing: error))")
    }
  }

  @Test func tooLargeImageIsRefusedFromItsHeader() throws {
    let plain = try ImageCodec.encode(try noise(9, 9, .rgb8, seed: 7))
    // Bytes after the header are not read.
    let error = #expect(throws: ImageError.self) {
      try ImageCodec.decode(Array(plain.prefix(33)) + [1, 2, 3], name: "h.png", maximumPixels: 80)
    }
    #expect(error?.code == .tooLarge)
    let gif = Array("GIF89a".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x3B]
    let webp =
      Array("RIFF".utf8) + [22, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0]
      + [0xFE, 0xFF, 0, 0xFE, 0xFF, 0]
    for file in [gif, webp] {
      let error = #expect(throws: ImageError.self) { try ImageCodec.decode(file, name: "h") }
      #expect(error?.code == .tooLarge, "\(String(describing: error))")
    }
  }

  @Test func strippedFilesDecodeLikeWholeFiles() throws {
    // The vectors' pixels were made by another program from whole files (`DecodingVectorTests`); what is added here
    // must change none of them.
    for name in ImageVectors.names {
      let bytes = ImageVectors.bytes(ImageVectors.path(name))
      let whole = try? ImageCodec.decode(bytes, name: name)
      let path = try? ImageCodec.decode(path: ImageVectors.path(name))
      #expect(whole?.pixels == path?.pixels && whole?.orientation == path?.orientation, "\(name)")
    }
  }

  @Test func onlyTheFirstFrameIsRead() throws {
    let frames = 400
    var gif = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]
    let frame: [UInt8] = [0x21, 0xF9, 4, 0, 1, 0, 0, 0, 0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 2, 0x84, 0x51, 0]
    for _ in 0..<frames { gif += frame }
    let decoded = try ImageCodec.decode(gif + [0x3B], name: "many.gif")
    #expect(decoded.width == 2 && decoded.height == 2)
    #expect(
      try decoded.pixels == ImageCodec.decode(Array(gif.prefix(19 + frame.count)) + [0x3B], name: "one.gif").pixels)
  }

  /// More segments, chunks, blocks or strips than any image needs, each of which takes time.
  @Test func tooManySegmentsAreRefused() throws {
    let count = (1 << 18) + 1
    func many(_ part: [UInt8]) -> [UInt8] { Array(repeatElement(part, count: count).joined()) }
    let image = try noise(4, 4, .rgb8, seed: 4)
    let (png, jpeg) = (try ImageCodec.encode(image), try ImageCodec.encode(image, as: .jpeg(quality: 90)))
    let webP = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8)
    var tiff = TIFFFile()
    tiff.entry(256, 4)
    tiff.entry(257, 4)
    tiff.entry(273, [Int](repeating: 8, count: count), type: 4)
    for (name, file) in [
      ("png", Self.png(png, with: many(Self.chunk("teSt", [])))),
      ("jpeg", Array(jpeg.prefix(2)) + many([0xFF, 0xFE, 0, 2]) + jpeg.dropFirst(2)),
      ("webp", webP + many(Array("JUNK".utf8) + [0, 0, 0, 0])),
      ("gif", Array("GIF89a".utf8) + [2, 0, 2, 0, 0, 0, 0] + many([0x21, 0xFE, 0])), ("tiff", tiff.bytes),
    ] {
      let error = #expect(throws: ImageError.self) { try ImageCodec.decode(file, name: name) }
      #expect(error?.code == .tooLarge, "\(String(describing: error))")
      #expect(error?.reason == "it has more than 262144 parts, the most that are read", "\(name)")
    }
  }

  /// The segments of a JPEG before its scan's data: what each is, and its contents.
  private static func segments(_ jpeg: [UInt8]) -> (segments: [(marker: UInt8, body: [UInt8])], scan: Int) {
    var found: [(UInt8, [UInt8])] = []
    var place = 2
    while place + 4 <= jpeg.count {
      let length = Int(jpeg[place + 2]) << 8 | Int(jpeg[place + 3])
      found.append((jpeg[place + 1], Array(jpeg[place + 4..<place + 2 + length])))
      place += 2 + length
      if found[found.count - 1].0 == 0xDA { break }
    }
    return (found, place)
  }

  /// TIFF's first way with JPEG has the tables apart from the pixels: in a stream, or one by one.
  @Test(arguments: [true, false]) func oldStyleJPEGTablesInTIFFAreKept(isStream: Bool) throws {
    let jpeg = try ImageCodec.encode(try noise(16, 16, .gray8, seed: 5), as: .jpeg(quality: 95))
    let (segments, scan) = Self.segments(jpeg)
    var tiff = TIFFFile()
    for (tag, value) in [(256, 16), (257, 16), (258, 8), (259, 6), (262, 1), (277, 1), (278, 16), (284, 1)] {
      tiff.entry(tag, value)
    }
    if isStream {
      let start = tiff.add(jpeg)
      tiff.entry(513, start, type: 4)
      tiff.entry(514, jpeg.count, type: 4)
      tiff.entry(273, start + scan, type: 4)
    } else {
      // Something between the pixels and the tables, as other writers have it.
      tiff.entry(273, tiff.add(Array(jpeg[scan...])), type: 4)
      _ = tiff.add([UInt8](repeating: 0x55, count: 100))
      tiff.entry(512, 1)
      var tables: [Int: [UInt8]] = [:]
      for (marker, body) in segments where marker == 0xDB {
        for start in stride(from: 0, to: body.count, by: 65) {
          tables[Int(body[start] & 15)] = Array(body[start + 1..<start + 65])
        }
      }
      for (marker, body) in segments where marker == 0xC4 {
        var start = 0
        while start < body.count {
          let count = body[start + 1..<start + 17].reduce(0) { $0 + Int($1) }
          let kind = Int(body[start] >> 4)
          tables[0x100 * (kind + 1) + Int(body[start] & 15)] = Array(body[start + 1..<start + 17 + count])
          start += 17 + count
        }
      }
      for (tag, kind) in [(519, 0), (520, 0x100), (521, 0x200)] {
        tiff.entry(tag, tiff.add(try #require(tables[kind])), type: 4)
      }
    }
    tiff.entry(279, jpeg.count - scan, type: 4)
    let decoded = try ImageCodec.decode(tiff.bytes, name: "old.tiff").pixels.bytes
    let expected = try ImageCodec.decode(jpeg, name: "new.jpg").pixels.bytes
    #expect(decoded.count == expected.count)
    let differences = zip(decoded, expected).map { abs(Int($0) - Int($1)) }
    #expect((differences.max() ?? 0) <= 2, "\(decoded.prefix(24)) against \(expected.prefix(24))")
    // The same in a colour space that decoders get wrong.
    tiff.replace(262, 6)
    let error = #expect(throws: ImageError.self) { try ImageCodec.decode(tiff.bytes, name: "old.tiff") }
    #expect(error?.code == .unknownFormat && error?.reason.contains("old style of JPEG") == true)
  }

  /// A strip that overlaps the directory does not restore its removed entries.
  @Test func stripsOverADirectoryRestoreNothing() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      var tiff = TIFFFile()
      _ = tiff.add([UInt8](repeating: 100, count: 16))
      for (tag, value) in [(256, 4), (257, 4), (258, 8), (259, 1), (262, 1), (277, 1), (278, 4)] {
        tiff.entry(tag, value)
      }
      tiff.entry(273, 8, type: 4)
      tiff.entry(279, 4096, type: 4)
      // Metadata of zeros, as a hole in the file.
      let metadata = 400 << 20
      tiff.entry(700, [], type: 1)
      var bytes = tiff.bytes
      let tag: [UInt8] = [0xBC, 0x02, 1, 0]
      let place = try #require(bytes.indices.dropLast(4).last { bytes[$0..<$0 + 4].elementsEqual(tag) })
      bytes.replaceSubrange(place + 4..<place + 12, with: TIFFFile.littleEndian(metadata, 4) + [0, 0, 16, 0])
      let folder = TemporaryFolder()
      let path = folder.write(bytes, "over.tiff")
      #expect(truncate(path, off_t(metadata + (2 << 20))) == 0)
      _ = try ImageCodec.decode(try ImageCodec.encode(try noise(4, 4, .gray8, seed: 1)), name: "plain")
      let before = process.peakByteCount
      #expect(try ImageCodec.decode(path: path).pixels.bytes == [UInt8](repeating: 100, count: 48))
      #expect(process.peakByteCount - before < 32 << 20, "\(process.peakByteCount - before)")
    }
  }
}
