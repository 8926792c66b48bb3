import KelvinBasics
import KelvinImages
import TestSupport
import Testing

private func failure(_ body: () throws -> DecodedImage) -> ImageError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? ImageError
  }
}

@Suite struct InvalidImageTests {
  @Test func nonImageIsNamed() {
    #expect(failure { try ImageCodec.decode([], name: "none.png") }?.code == .corrupt)
    let text = failure { try ImageCodec.decode(Array("<svg/>, not pixels".utf8), name: "notes.txt") }
    #expect(text?.code == .unknownFormat)
    #expect(text?.description.contains("notes.txt") == true)
    #expect(failure { try ImageCodec.decode(path: "/nonexistent/photo.jpg") }?.code == .unreadable)
    #expect(failure { try ImageCodec.decode(path: "/") }?.code == .unreadable)
    #expect(failure { try ImageCodec.decode(path: "/dev/zero") }?.code == .unreadable)
  }

  @Test func pixelCountMustMatchTheSize() {
    for (width, height, count) in [(2, 2, 11), (0, 2, 0), (-1, -1, 3), (.max, 2, 6), (.max / 2, 3, 6)] {
      #expect(throws: ImageError.self) {
        try PixelBuffer(width: width, height: height, format: .rgb8, bytes: [UInt8](repeating: 0, count: count))
      }
    }
  }
}

@Suite(.enabled(if: decoderMissing == nil, "libvips is not installed"))
struct InvalidImageFileTests {
  @Test(arguments: [ImageCodec.Encoding.png, .jpeg(quality: 80)])
  func truncatedImageIsRefused(encoding: ImageCodec.Encoding) throws {
    let file = try ImageCodec.encode(try noise(40, 30, .rgb8, seed: 5), as: encoding)
    #expect(failure { try ImageCodec.decode(file, name: "whole") } == nil)
    for length in stride(from: 16, to: file.count - 16, by: 97) {
      #expect(failure { try ImageCodec.decode(Array(file.prefix(length)), name: "cut") }?.code == .corrupt, "\(length)")
    }
  }

  @Test func missingDataIsDetectedDespiteAValidEnd() throws {
    let file = try ImageCodec.encode(try noise(64, 64, .rgb8, seed: 8), as: .jpeg(quality: 90))
    let cut = Array(file.prefix(file.count / 2)) + [0xff, 0xd9]
    #expect(failure { try ImageCodec.decode(cut, name: "cut.jpg") }?.code == .corrupt)
    #expect(failure { try ImageCodec.decode(file + [1, 2, 3], name: "long.jpg") } == nil)
  }

  @Test func hugeImageIsRefusedFromItsHeader() throws {
    var file = try ImageCodec.encode(try noise(4, 4, .rgb8, seed: 6), as: .jpeg(quality: 80))
    let frame = try #require((2..<file.count - 9).first { file[$0] == 0xff && file[$0 + 1] == 0xc0 })
    for byte in frame + 5..<frame + 9 { file[byte] = 0xfe }
    #expect(failure { try ImageCodec.decode(file, name: "huge.jpg") }?.code == .tooLarge)
    let small = try ImageCodec.encode(try noise(9, 9, .rgb8, seed: 7))
    #expect(failure { try ImageCodec.decode(small, name: "small.png", maximumPixels: 80) }?.code == .tooLarge)
    #expect(failure { try ImageCodec.decode(small, name: "small.png", maximumPixels: 81) } == nil)
  }

  @Test(arguments: [ImageCodec.Encoding.png, .jpeg(quality: 80)])
  func mutatedFilesAreDecodedOrRefused(encoding: ImageCodec.Encoding) throws {
    let file = try ImageCodec.encode(try gradient(24, 17), as: encoding)
    var refused = 0
    for seed in Tier.seeds(60, of: 300) {
      var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: seed))
      var mutant = file
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let at = Int.random(in: 0..<mutant.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: mutant[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: mutant[at] = .random(in: 0...255, using: &random)
        case 2: mutant.removeSubrange(at..<min(mutant.count, at + 5))
        default: mutant.insert(contentsOf: mutant[max(0, at - 9)..<at], at: at)
        }
        if mutant.isEmpty { break }
      }
      do throws(ImageError) {
        let decoded = try ImageCodec.decode(mutant, name: "seed \(seed)", maximumPixels: 1 << 20)
        let (pixels, count) = (decoded.pixels, decoded.pixels.bytes.count)
        #expect(count == pixels.width * pixels.height * 3, "seed \(seed)")
      } catch {
        refused += 1
        #expect(error.name == "seed \(seed)")
        #expect(!error.reason.isEmpty)
      }
    }
    #expect(refused > Tier.trials(5, of: 30))
  }

  @Test(
    .enabled(if: shared != nil, "no shared test material"),
    arguments: [
      "pillow_truncated_image.png", "pillow_truncated_jpeg.jpg", "sharp_truncated.jpg", "sharp_truncated.png",
      "sharp_corrupt-header.jpg",
    ])
  func brokenFilesAreNamed(file: String) throws {
    let path = try #require(shared) + "/images/odd/" + file
    let error = try #require(failure { try ImageCodec.decode(path: path) })
    #expect(error.code == .corrupt)
    #expect(error.description.contains(file))
  }
}
