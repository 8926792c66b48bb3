import KelvinImages
import Testing

/// BMP files that no program writes for the committed vectors: rare kinds, and files that break the format's rules.
@Suite struct BMPTests {
  /// A file with a header of 40 bytes.
  private func bmp(
    _ width: Int32, _ height: Int32, bits: UInt16, compression: UInt32 = 0, rows: [UInt8], masks: [UInt32] = [],
    palette: [UInt32] = []
  ) -> [UInt8] {
    func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
      withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
    let tables = (masks + palette).flatMap(bytes)
    let start = UInt32(54 + tables.count)
    var file = Array("BM".utf8) + bytes(start + UInt32(rows.count)) + bytes(UInt32(0)) + bytes(start)
    file += bytes(UInt32(40)) + bytes(width) + bytes(height) + bytes(UInt16(1)) + bytes(bits) + bytes(compression)
    file += bytes(UInt32(rows.count)) + bytes(UInt64(0)) + bytes(UInt32(palette.count)) + bytes(UInt32(0))
    return file + tables + rows
  }

  private func pixels(_ file: [UInt8]) throws -> [UInt8] { try ImageCodec.decode(file, name: "made.bmp").pixels.bytes }

  private func reason(_ file: [UInt8]) -> String {
    do throws(ImageError) {
      _ = try ImageCodec.decode(file, name: "made.bmp")
      return "decoded"
    } catch { return error.reason }
  }

  @Test func twoBitsSelectFourColors() throws {
    let file = bmp(4, 1, bits: 2, rows: [0b0001_1011, 0, 0, 0], palette: [0, 0xFF0000, 0x00FF00, 0x0000FF])
    #expect(try pixels(file) == [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
  }

  @Test func masksOfTenBitsAreScaledToEight() throws {
    let pixel: [UInt8] = [0b1111_1111, 0b0000_0011, 0b0000_0000, 0b0010_0000]
    let file = bmp(1, 1, bits: 32, compression: 3, rows: pixel, masks: [0x3FF0_0000, 0xFFC00, 0x3FF])
    #expect(try pixels(file) == [128, 0, 255])
  }

  @Test func alphaOfZeroEverywhereIsOpaque() throws {
    let masks: [UInt32] = [0xFF0000, 0xFF00, 0xFF, 0xFF00_0000]
    let clear: [UInt8] = [30, 20, 10, 0, 60, 50, 40, 0]
    #expect(try pixels(bmp(2, 1, bits: 32, compression: 6, rows: clear, masks: masks)) == [10, 20, 30, 40, 50, 60])
    let half: [UInt8] = [30, 20, 10, 0, 60, 50, 40, 51]
    #expect(try pixels(bmp(2, 1, bits: 32, compression: 6, rows: half, masks: masks)) == [0, 0, 0, 8, 10, 12])
  }

  @Test func pixelsThatRunsLeaveOutHaveTheFirstColor() throws {
    let file = bmp(3, 2, bits: 8, compression: 1, rows: [1, 1, 0, 1], palette: [0x010203, 0x040506])
    #expect(try pixels(file) == [1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 6, 1, 2, 3, 1, 2, 3])
  }

  @Test func lastRowMayLackItsPadding() throws {
    #expect(try pixels(bmp(1, 2, bits: 24, rows: [3, 2, 1, 0, 6, 5, 4])) == [4, 5, 6, 1, 2, 3])
  }

  @Test func brokenRulesAreNamed() {
    #expect(
      reason(bmp(2, 2, bits: 24, rows: [0, 0, 0]))
        == "not a valid BMP file: 2 x 2 pixels of 24 bits take 14 bytes from byte 54 on; the file has 57 bytes")
    #expect(
      reason(bmp(1, 1, bits: 8, rows: [2, 0, 0, 0], palette: [0, 0]))
        == "not a valid BMP file: a pixel has index 2 of a palette of 2 colors")
    #expect(
      reason(bmp(2, 1, bits: 8, compression: 1, rows: [3, 0, 0, 1], palette: [0]))
        == "not a valid BMP file: a run leaves row 0, which has 2 pixels")
    #expect(
      reason(bmp(2, 2, bits: 8, compression: 1, rows: [2, 0, 0, 0], palette: [0]))
        == "not a valid BMP file: its run-length encoding ends at row 1 of 2")
    #expect(
      reason(bmp(2, -1, bits: 8, compression: 1, rows: [2, 0, 0, 1], palette: [0]))
        == "not a valid BMP file: its rows are run-length encoded, and cannot start at the top")
    #expect(reason(bmp(0, 5, bits: 24, rows: [])) == "not a valid BMP file: its size is 0 x 5 pixels")
    #expect(reason(bmp(1, .min, bits: 24, rows: [0, 0, 0, 0])).contains("at most \(ImageCodec.maximumPixels)"))
    #expect(reason(bmp(1, 1, bits: 24, compression: 4, rows: [])).contains("24 bits per pixel with compression 4"))
    #expect(reason(Array(bmp(1, 1, bits: 24, rows: [1, 2, 3]).prefix(40))).contains("ends inside its header"))
  }
}
