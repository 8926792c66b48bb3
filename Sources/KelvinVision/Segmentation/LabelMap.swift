import Kelvin

/// One class for each pixel of an image.
struct LabelMap: Sendable {
  let width: Int
  let height: Int
  /// Row by row from the top left; `ClassPalette.unseenIndex` where the model did not see the image.
  let classes: [UInt8]

  /// A model's map brought to the size of the image that it saw: each pixel takes the class of the model's pixel that
  /// its centre falls into.
  ///
  /// - Parameters:
  ///   - labels: one class in 0...254 for each of `labelsWidth * labelsHeight` cells that cover the model's input.
  ///   - size: of the upright image.
  ///   - region: the part of it that the model saw; nil for all.
  ///   - input: the size of the model's input.
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
    // Beside its region the image lies where the model had zeros or nothing.
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
    // What the model saw is in one piece.
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

  /// - Parameter classes: `width * height` of them.
  init(width: Int, height: Int, classes: [UInt8]) {
    (self.width, self.height, self.classes) = (width, height, classes)
  }

  /// The map with what is of no such class unseen.
  func keeping(_ kept: Set<Int>) -> LabelMap {
    let unseen = UInt8(ClassPalette.unseenIndex)
    let classes = (0..<256).map { kept.contains($0) ? UInt8($0) : unseen }
    return LabelMap(width: width, height: height, classes: self.classes.map { classes[Int($0)] })
  }

  /// How many pixels each class has, by class; `ClassPalette.unseenIndex` counts those the model did not see.
  func counts() -> [Int] {
    var counts = [Int](repeating: 0, count: 256)
    for label in classes { counts[Int(label)] += 1 }
    return counts
  }
}
