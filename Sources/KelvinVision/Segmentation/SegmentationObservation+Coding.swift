import FoundationEssentials

/// Encoded as the size, the classes of all pixels (row by row from the top left, one byte each) and the names and
/// colours of the classes.
extension SegmentationObservation: Codable {
  private enum CodingKeys: CodingKey { case uuid, width, height, labelMap, classes, classCount, chosen }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let (width, height) = (
      try values.decode(Int.self, forKey: .width), try values.decode(Int.self, forKey: .height)
    )
    let labels = [UInt8](try values.decode(Data.self, forKey: .labelMap))
    guard width > 0, height > 0, labels.count % width == 0, labels.count / width == height else {
      throw DecodingError.dataCorruptedError(
        forKey: .labelMap, in: values,
        debugDescription: "a map of \(width) x \(height) pixels is expected, got \(labels.count) classes")
    }
    let count = try values.decodeIfPresent(Int.self, forKey: .classCount)
    guard count.map((0...ClassPalette.unseenIndex).contains) ?? true else {
      throw DecodingError.dataCorruptedError(
        forKey: .classCount, in: values, debugDescription: "expected 0 to \(ClassPalette.unseenIndex) classes")
    }
    self.init(
      LabelMap(width: width, height: height, classes: labels),
      try values.decode(SegmentationClasses.self, forKey: .classes), classCount: count,
      chosen: try values.decodeIfPresent(Set<Int>.self, forKey: .chosen),
      identity: try values.decode(ObservationIdentity.self, forKey: .uuid))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(identity, forKey: .uuid)
    try values.encode(width, forKey: .width)
    try values.encode(height, forKey: .height)
    try values.encode(Data(labelMap), forKey: .labelMap)
    try values.encode(classes, forKey: .classes)
    try values.encodeIfPresent(classCount, forKey: .classCount)
    try values.encodeIfPresent(chosen?.sorted(), forKey: .chosen)
  }
}
