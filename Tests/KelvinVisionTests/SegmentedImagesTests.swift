import FoundationEssentials
import KelvinCollections
import KelvinImages
import KelvinVision
import TestSupport
import Testing

/// Label maps from the annotations of a document.
@Suite struct SegmentedImagesTests {
  private func labelMap(_ segmentation: String) throws -> [UInt8] {
    let folder = TemporaryFolder()
    let path = "\(folder.path)/segments.json"
    let text = """
      {"images": [{"id": 1, "file_name": "a.png"}], "categories": [{"id": 3, "name": "cat"}],
       "annotations": [{"image_id": 1, "category_id": 3, "segmentation": \(segmentation)}]}
      """
    try Data(text.utf8).write(to: URL(filePath: path))
    let image = DecodedImage(
      pixels: try PixelBuffer(width: 4, height: 3, format: .gray8, bytes: [UInt8](repeating: 0, count: 12)),
      orientation: .up)
    let examples = try SegmentedImages(contentsOf: URL(filePath: path)).examples
    return try #require(examples.first).labelMap(of: image)
  }

  @Test func polygonCoversPixelsByTheirCenters() throws {
    #expect(try labelMap("[[1, 0, 3, 0, 3, 2, 1, 2]]") == [0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0])
  }

  /// An image with sides that overflow.
  @Test func polygonBeyondTheImageIsClipped() throws {
    #expect(try labelMap("[[-1e308, 0.5, 1e308, 0.5, 1e308, 9, -1e308, 9]]") == [UInt8](repeating: 1, count: 12))
    #expect(try labelMap("[[-1e308, 0.5, 1e308, 5, 1e308, 9]]").count == 12)
  }
}
