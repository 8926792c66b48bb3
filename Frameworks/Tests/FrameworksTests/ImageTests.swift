import CoreImage
import Foundation
import Kelvin
import Testing

/// Drawing into contexts and buffers, and image files.
@Suite struct ImageTests {
  /// Red and green above blue and white.
  private func quarters() throws -> CGImage {
    let bytes: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
    return CGImage(try PixelBuffer(width: 2, height: 2, format: .rgb8, bytes: bytes))
  }

  private func context(_ memory: UnsafeMutableRawPointer?, _ info: UInt32) throws -> CGContext {
    try #require(
      CGContext(
        data: memory, width: 2, height: 2, bitsPerComponent: 8, bytesPerRow: 8, space: CGColorSpaceCreateDeviceRGB(),
        bitmapInfo: info))
  }

  @Test func contextsStoreTheirLayout() throws {
    let image = try quarters()
    var bytes = [UInt8](repeating: 0, count: 16)
    let whole = CGRect(x: 0, y: 0, width: 2, height: 2)
    try bytes.withUnsafeMutableBytes {
      try context($0.baseAddress, CGImageAlphaInfo.noneSkipFirst.rawValue).draw(image, in: whole)
    }
    #expect(bytes == [255, 255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255])
    let info = CGImageAlphaInfo.premultipliedFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue
    try bytes.withUnsafeMutableBytes {
      let context = try context($0.baseAddress, info)
      context.translateBy(x: 0, y: 2)
      context.scaleBy(x: 1, y: -1)
      context.draw(image, in: whole)
    }
    #expect(bytes == [255, 0, 0, 255, 255, 255, 255, 255, 0, 0, 255, 255, 0, 255, 0, 255])
  }

  @Test func partsAreDrawnAboveTheLowerLeftCorner() throws {
    let context = try context(nil, CGImageAlphaInfo.premultipliedLast.rawValue)
    context.setFillColor(red: 1, green: 0, blue: 0, alpha: 1)
    context.fill(CGRect(x: 1, y: 0, width: 1, height: 1))
    let image = try #require(context.makeImage())
    #expect(image.kelvin.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 255])
    context.setFillColor(red: 0, green: 0, blue: 1, alpha: 0.5)
    context.fill(CGRect(x: 1, y: 0, width: 1, height: 1))
    let blended = try #require(context.makeImage()?.kelvin.bytes.suffix(4))
    #expect(Array(blended) == [127, 0, 128, 255])
    #expect(image.cropping(to: CGRect(x: 1, y: 1, width: 5, height: 5))?.kelvin.bytes == [255, 0, 0, 255])
    #expect(image.cropping(to: CGRect(x: 2, y: 2, width: 5, height: 5)) == nil)
  }

  @Test func providersGiveImages() throws {
    let provider = try #require(CGDataProvider(data: Data([1, 2, 3, 9, 4, 5, 6, 9]) as CFData))
    func image(_ bits: Int, _ info: CGBitmapInfo, width: Int = 1) -> CGImage? {
      CGImage(
        width: width, height: 2, bitsPerComponent: 8, bitsPerPixel: bits, bytesPerRow: 4,
        space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: info, provider: provider, decode: nil,
        shouldInterpolate: false, intent: .defaultIntent)
    }
    #expect(image(32, CGBitmapInfo(rawValue: 5))?.kelvin.bytes == [1, 2, 3, 4, 5, 6])
    #expect(image(32, [CGBitmapInfo(rawValue: 6), .byteOrder32Little])?.kelvin.bytes == [3, 2, 1, 6, 5, 4])
    #expect(image(24, CGBitmapInfo(rawValue: 0))?.dataProvider?.data == Data([1, 2, 3, 4, 5, 6]) as CFData)
    #expect(image(32, CGBitmapInfo(rawValue: 5), width: 2) == nil && image(16, CGBitmapInfo(rawValue: 0)) == nil)
  }

  @Test(arguments: 1...8) func orientationsEqualKelvins(number: UInt32) throws {
    let bytes = (0..<18).map { UInt8($0 * 10) }
    let image = try PixelBuffer(width: 3, height: 2, format: .rgb8, bytes: bytes)
    let orientation = try #require(CGImagePropertyOrientation(rawValue: number))
    let turned = CIImage(cgImage: CGImage(image)).oriented(orientation)
    let drawn = try #require(CIContext().createCGImage(turned, from: turned.extent))
    #expect(drawn.kelvin == (try image.oriented(orientation.kelvin)))
  }

  @Test func scaledImagesEqualKelvins() throws {
    let photo = try ImageCodec.decode(path: Places.nine.path).pixels
    var buffer: CVPixelBuffer?
    CVPixelBufferCreate(nil, 14, 10, kCVPixelFormatType_32ARGB, nil, &buffer)
    let target = try #require(buffer)
    let image = try #require(CIImage(contentsOf: Places.nine))
    let scale = CGAffineTransform(scaleX: 14 / image.extent.width, y: 10 / image.extent.height)
    CIContext().render(image.transformed(by: scale), to: target)
    let drawn = CGImage(target.kelvin).kelvin
    let expected = CGImage(try photo.resized(width: 14, height: 10)).kelvin
    let pairs = (0..<140).map { (drawn.bytes[4 * $0], expected.bytes[expected.format.channelCount * $0]) }
    #expect(pairs.allSatisfy { $0 == $1 })
    let part = image.cropped(to: CGRect(x: 1, y: 2, width: 3, height: 4))
    #expect(part.extent == CGRect(x: 1, y: 2, width: 3, height: 4))
    let cut = try #require(CIContext().createCGImage(part, from: part.extent))
    let same = CGImage(photo).cropping(to: CGRect(x: 1, y: photo.height - 6, width: 3, height: 4))
    let channels = photo.format.channelCount
    #expect(cut.kelvin.bytes.first == same?.kelvin.bytes.first && cut.width == 3 && channels > 0)
  }

  @Test func imageFilesAreWrittenAndRead() throws {
    let folder = try Folder()
    let url = folder.file("quarters.png") as CFURL
    let destination = try #require(CGImageDestinationCreateWithURL(url, "public.png" as CFString, 1, nil))
    CGImageDestinationAddImage(destination, try quarters(), nil)
    #expect(CGImageDestinationFinalize(destination))
    let source = try #require(CGImageSourceCreateWithURL(url, nil))
    #expect(CGImageSourceCreateImageAtIndex(source, 0, nil)?.kelvin == (try quarters()).kelvin)
    let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any]
    #expect(properties?[kCGImagePropertyPixelWidth] as? Int == 2)
    #expect(CGImageDestinationCreateWithURL(url, "public.tiff" as CFString, 1, nil) == nil)
    #expect(CGImageSourceCreateWithURL(folder.file("absent") as CFURL, nil) == nil)
    let broken = try #require(CGImageSourceCreateWithData(Data([1, 2, 3]) as CFData, nil))
    #expect(CGImageSourceGetCount(broken) == 0 && CGImageSourceCreateImageAtIndex(broken, 0, nil) == nil)
  }

  @Test func affineMapsCompose() {
    let map = CGAffineTransform(translationX: 3, y: 4).scaledBy(x: 2, y: 5).rotated(by: .pi / 2)
    let point = CGPoint(x: 1, y: 2).applying(map)
    #expect(abs(point.x - -1) < 1e-9 && abs(point.y - 9) < 1e-9)
    let back = point.applying(map.inverted())
    #expect(abs(back.x - 1) < 1e-9 && abs(back.y - 2) < 1e-9)
    let bounds = CGRect(x: 0, y: 0, width: 2, height: 1).applying(map)
    #expect(abs(bounds.minX - 1) < 1e-9 && abs(bounds.maxX - 3) < 1e-9 && abs(bounds.height - 10) < 1e-9)
  }
}
