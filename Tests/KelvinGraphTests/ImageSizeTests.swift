import KelvinGraph
import Testing

@Suite("Sizes of an image input")
struct ImageSizeTests {
  private typealias Size = ImageFeature.Size

  private func feature(_ sizes: ImageFeature.Sizes) -> ImageFeature {
    ImageFeature(width: 224, height: 192, sizes: sizes, layout: .rgb)
  }

  @Test("a fixed input has no smaller size, a list has its next ones")
  func lists() {
    let usual = Size(width: 224, height: 192)
    #expect(feature(.fixed).smallerSizes(than: usual).isEmpty)
    let all = [(64, 64), (224, 192), (160, 128), (96, 256), (128, 128), (512, 512)].map { Size(width: $0, height: $1) }
    let listed = feature(.enumerated(all))
    #expect(listed.smallerSizes(than: usual) == [Size(width: 160, height: 128), Size(width: 128, height: 128)])
    #expect(listed.smallerSizes(than: Size(width: 64, height: 64)).isEmpty)
  }

  @Test("a range has three quarters and a half, in whole multiples of 32 above 64")
  func ranges() {
    let wide = feature(.ranged(widths: 64...1024, heights: 64...1024))
    #expect(
      wide.smallerSizes(than: Size(width: 640, height: 480))
        == [Size(width: 480, height: 352), Size(width: 320, height: 224)])
    #expect(wide.smallerSizes(than: Size(width: 80, height: 64)) == [Size(width: 64, height: 64)])
    #expect(wide.smallerSizes(than: Size(width: 64, height: 64)).isEmpty)
    let small = feature(.ranged(widths: 8...64, heights: 8...64))
    #expect(
      small.smallerSizes(than: Size(width: 40, height: 40))
        == [Size(width: 30, height: 30), Size(width: 20, height: 20)])
  }

  @Test("a limited input gives an image the nearest size within the limit")
  func limits() {
    let listed = feature(.enumerated([(224, 192), (160, 128), (96, 256)].map { Size(width: $0, height: $1) }))
    let limit = Size(width: 160, height: 128)
    #expect(listed.limited(to: limit).nearestSize(to: Size(width: 1920, height: 1080)) == limit)
    #expect(listed.limited(to: limit).width == 160 && listed.limited(to: limit).height == 128)
    let ranged = feature(.ranged(widths: 32...1024, heights: 48...1024)).limited(to: limit)
    #expect(ranged.nearestSize(to: Size(width: 1920, height: 1080)) == limit)
    #expect(ranged.nearestSize(to: Size(width: 100, height: 40)) == Size(width: 100, height: 48))
    #expect(!ranged.accepts(Size(width: 224, height: 192)) && ranged.accepts(limit))
  }
}
