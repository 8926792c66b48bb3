import Kelvin

/// A class for each pixel of an image.
struct LabelMap: Sendable {
  let width: Int
  let height: Int
  /// The classes row by row from the top left; `ClassPalette.unseenIndex` for pixels that the model did not see.
  package let classes: [UInt8]

  /// Scales a model's label map to the size of the image. Each pixel takes the class of the cell that contains its
  /// centre.
  ///
  /// - Parameters:
  ///   - labels: One class in 0...254 for each of the `labelsWidth * labelsHeight` cells that cover the model's input.
  ///   - size: The size of the upright image.
  ///   - region: The part of the image that the model saw; nil for all.
  ///   - input: The size of the model's input.
  init(
    _ labels: [UInt8], width labelsWidth: Int, height labelsHeight: Int, onto size: ImageSize, region: PixelRect?,
    input: (width: Int, height: Int), _ cropAndScale: ImageCropAndScale
  ) {
    let (width, height) = (size.width, size.height)
    let seen = region ?? PixelRect(x: 0, y: 0, width: width, height: height)
    let placement = ImagePlacement(region: seen, width: input.width, height: input.height, cropAndScale)
    func cell(_ position: Double, _ side: Int, _ cells: Int) -> Int? {
      guard position >= 0, position < Double(side) else { return nil }
      return min(Int(position * Double(cells) / Double(side)), cells - 1)
    }
    // Pixels outside the region map to no cell.
    let across = (0..<width).map { x -> Int? in
      guard x >= seen.x, x < seen.x + seen.width else { return nil }
      let point = placement.targetPoint(imageX: Double(x) + 0.5, imageY: 0.5)
      return cropAndScale.rotates
        ? cell(point.y, input.height, labelsHeight).map { $0 * labelsWidth } : cell(point.x, input.width, labelsWidth)
    }
    let down = (0..<height).map { y -> Int? in
      guard y >= seen.y, y < seen.y + seen.height else { return nil }
      let point = placement.targetPoint(imageX: 0.5, imageY: Double(y) + 0.5)
      return cropAndScale.rotates
        ? cell(point.x, input.width, labelsWidth) : cell(point.y, input.height, labelsHeight).map { $0 * labelsWidth }
    }
    // The visible columns are contiguous.
    let columns = (across.firstIndex { $0 != nil } ?? 0)..<(across.lastIndex { $0 != nil } ?? -1) + 1
    let places = across.map { $0 ?? 0 }
    var classes = [UInt8](repeating: UInt8(ClassPalette.unseenIndex), count: width * height)
    classes.withUnsafeMutableBufferPointer { classes in
      labels.withUnsafeBufferPointer { labels in
        places.withUnsafeBufferPointer { places in
          for (y, line) in down.enumerated() {
            guard let line else { continue }
            for x in columns { classes[y &* width &+ x] = labels[places[x] &+ line] }
          }
        }
      }
    }
    self.width = width
    self.height = height
    self.classes = classes
  }

  /// - Parameter classes: `width * height` classes.
  init(width: Int, height: Int, classes: [UInt8]) {
    (self.width, self.height, self.classes) = (width, height, classes)
  }

  /// Returns the map with all other classes replaced by the unseen index.
  func keeping(_ kept: Set<Int>) -> LabelMap {
    let unseen = UInt8(ClassPalette.unseenIndex)
    let classes = (0..<256).map { kept.contains($0) ? UInt8($0) : unseen }
    return LabelMap(width: width, height: height, classes: self.classes.map { classes[Int($0)] })
  }

  /// Returns the number of pixels of each class, including `ClassPalette.unseenIndex`.
  func counts() -> [Int] {
    var counts = [Int](repeating: 0, count: 256)
    for label in classes { counts[Int(label)] += 1 }
    return counts
  }
}
