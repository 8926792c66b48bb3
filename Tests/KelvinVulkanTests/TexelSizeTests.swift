import KelvinVulkan
import Testing

struct TexelSizeTests {
  /// By size of the contents.
  @Test(arguments: [1, 4, 255, 256, 768, 3840, 3841, 1 << 16, (1 << 16) + 512, (1 << 22) - 256, 1 << 22, 5 << 24])
  func viewsFitTheirBuffersAndAvoidRoundSizes(_ byteCount: Int) {
    let (buffer, view) = (TexelSize.buffer(byteCount), TexelSize.view(byteCount))
    #expect(buffer.nonzeroBitCount != 1 && view >> 8 & 0xFF != 0)
    #expect(byteCount <= view && view <= buffer)
  }
}
