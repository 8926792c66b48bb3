import KelvinBasics
import KelvinImages
import TestSupport
import Testing

/// Damaged images of every format: each ends in pixels or in a typed error, soon and in little memory.
@Suite(.serialized, .enabled(if: decoderMissing == nil, "libvips is not installed"))
struct DamagedImageTests {
  private static let count = Tier.trials(60, of: 600)
  private static let maximumPixels = 1 << 22

  /// Flips bits, sets bytes and whole fields, removes, repeats and exchanges parts, and cuts the end off.
  private static func damage(_ file: [UInt8], _ other: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = file
    for _ in 0..<Int.random(in: 1...5, using: &random) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &random)
      let length = min(Int.random(in: 1...40, using: &random), bytes.count - at)
      switch Int.random(in: 0..<9, using: &random) {
      case 0, 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes[at] = .random(in: 0...255, using: &random)
      case 3:
        let field: [UInt8] =
          [[0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0, 1]]
          .randomElement(using: &random) ?? []
        for (i, byte) in field.enumerated() where at + i < bytes.count { bytes[at + i] = byte }
      case 4: bytes.removeSubrange(at..<at + length)
      case 5: bytes.insert(contentsOf: bytes[at..<at + length], at: at)
      case 6: bytes.removeSubrange(at...)
      case 7:
        let from = Int.random(in: 0..<other.count, using: &random)
        bytes.replaceSubrange(at..<at + length, with: other[from..<min(from + length, other.count)])
      default:
        // Headers are where sizes and offsets are.
        bytes[min(at % 64, bytes.count - 1)] = .random(in: 0...255, using: &random)
      }
    }
    return bytes
  }

  @Test func damagedImagesGivePixelsOrATypedError() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      let files = ImageVectors.names.map { ImageVectors.bytes(ImageVectors.path($0)) }
      try #require(!files.isEmpty)
      let count = DamagedImageTests.count
      let before = process.peakByteCount
      var refused: [ImageError.Code: Int] = [:]
      var slowest = (seconds: 0.0, name: "")
      for seed in 0..<count {
        var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
        let name = "\(ImageVectors.names[seed % files.count]), seed \(seed)"
        let mutant = DamagedImageTests.damage(
          files[seed % files.count], files[(seed * 7 + 1) % files.count], &random)
        let began = process.processorSeconds
        do throws(ImageError) {
          let limit = DamagedImageTests.maximumPixels
          let pixels = try ImageCodec.decode(mutant, name: name, maximumPixels: limit).pixels
          #expect(pixels.bytes.count == pixels.width * pixels.height * 3, "\(name)")
          #expect(pixels.width * pixels.height <= limit, "\(name)")
        } catch {
          refused[error.code, default: 0] += 1
          #expect(error.name == name)
          #expect(!error.reason.isEmpty)
        }
        let took = process.processorSeconds - began
        if took > slowest.seconds { slowest = (took, name) }
      }
      #expect(refused.values.reduce(0, +) > count / 4)
      #expect((refused[.corrupt] ?? 0) > count / 12)
      // A bound for work out of proportion to the file, in processor time, whatever else the machine does.
      #expect(slowest.seconds < 2, "\(slowest.name)")
      #expect(process.peakByteCount - before < 512 << 20)
    }
  }
}
