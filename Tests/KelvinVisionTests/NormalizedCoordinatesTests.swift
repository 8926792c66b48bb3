import KelvinVision
import Testing

@Suite struct NormalizedCoordinatesTests {
  private let size = ImageSize(width: 200, height: 100)

  @Test func coordinatesStartAtTheLowerLeft() {
    let rect = NormalizedRect(x: 0.125, y: 0.125, width: 0.25, height: 0.5)
    #expect(rect.toImageCoordinates(size) == ImageRect(x: 25, y: 12.5, width: 50, height: 50))
    #expect(rect.toImageCoordinates(size, origin: .upperLeft) == ImageRect(x: 25, y: 37.5, width: 50, height: 50))
    #expect(NormalizedRect.fullImage.toImageCoordinates(size, origin: .upperLeft).y == 0)
    let point = NormalizedPoint(x: 0.5, y: 0.25)
    #expect(point.toImageCoordinates(size) == ImagePoint(x: 100, y: 25))
    #expect(point.toImageCoordinates(size, origin: .upperLeft) == ImagePoint(x: 100, y: 75))
    #expect(point.verticallyFlipped() == NormalizedPoint(x: 0.5, y: 0.75))
    #expect(rect.center == NormalizedPoint(x: 0.25, y: 0.375))
  }

  @Test func pixelCoordinatesRoundTrip() {
    for origin in CoordinateOrigin.allCases {
      let rect = NormalizedRect(x: 0.125, y: 0.25, width: 0.5, height: 0.375)
      let pixels = rect.toImageCoordinates(size, origin: origin)
      #expect(NormalizedRect(imageRect: pixels, in: size, origin: origin) == rect)
      let point = NormalizedPoint(x: 0.75, y: 0.125)
      let place = point.toImageCoordinates(size, origin: origin)
      #expect(NormalizedPoint(imagePoint: place, in: size, origin: origin) == point)
      #expect(rect.verticallyFlipped().verticallyFlipped() == rect)
    }
  }

  @Test func nanConfidencesAreSortedLast() {
    let labels = [("a", Float.nan), ("c", 0.5), ("b", 0.5), ("d", 2)].map {
      ClassificationObservation(identifier: $0.0, confidence: $0.1)
    }
    let object = RecognizedObjectObservation(labels: labels, boundingBox: .fullImage)
    #expect(object.labels.map(\.identifier) == ["d", "b", "c", "a"])
    #expect(object.confidence == 2)
    #expect(labels.filter(minimumConfidence: 0.5).map(\.identifier) == ["c", "b", "d"])
  }
}
