/// Returns a PNG's critical chunks, and the chunks with colour information. Reference: W3C, "PNG Specification", 5 and
/// 11.
func strippedPNG(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  var limits = limits
  var reader = ImageReader(source)
  let kept = EncodedBytes()
  try kept.append(try reader.bytes(8, of: "its signature"), name: source.name)
  var orientation: ImageOrientation?
  var hasComment = false
  while reader.left > 0 {
    try limits.add()
    let start = reader.position
    let length = try reader.bigEndian(4, of: "a chunk")
    let type = String(decoding: try reader.bytes(4, of: "a chunk"), as: UTF8.self)
    let chunk = start..<start + 12 + length
    guard chunk.upperBound <= source.count else { throw source.ended("its chunk \(type)") }
    switch PNGChunk(type, length) {
    case .header:
      let width = try reader.bigEndian(4, of: "its header")
      try limits.setSize(width, try reader.bigEndian(4, of: "its header"))
      try limits.check(kept.count + chunk.count)
      try kept.append(source, chunk)
    case .needed:
      if type == "iCCP" { try limits.checkProfile(length) }
      try limits.check(kept.count + chunk.count)
      try kept.append(source, chunk)
    case .exif:
      let block = try reader.bytes(length, of: "its chunk eXIf")
      orientation = orientation ?? EXIFBlock(block)?.orientation
    case .text:
      // An EXIF block in ImageMagick's format may be compressed. It is kept, so that the decoder decompresses it.
      let keyword = String(decoding: try source.bytes(at: start + 8, atMost: 24).prefix { $0 != 0 }, as: UTF8.self)
      guard !hasComment, EXIFBlock.pngKeywords.contains(keyword) else { break }
      hasComment = true
      try kept.append(source, chunk)
    case .other: break
    }
    if type == "IEND" { break }
    reader = ImageReader(source, at: chunk.upperBound, keepingWindowOf: reader)
  }
  return StrippedImage(kept, orientation: orientation)
}

private enum PNGChunk {
  case header, needed, exif, text, other

  private static let ancillary: Set<String> = ["tRNS", "gAMA", "cHRM", "sRGB", "sBIT", "iCCP", "cICP"]

  init(_ type: String, _ length: Int) {
    let isSmall = length <= ImageLimits.orientationBlock
    switch type {
    case "IHDR" where length >= 8: self = .header
    case "eXIf" where isSmall: self = .exif
    case "tEXt" where isSmall, "zTXt" where isSmall: self = .text
    case _ where Self.ancillary.contains(type) || type.utf8.first.map({ $0 & 0x20 == 0 }) ?? true: self = .needed
    default: self = .other
    }
  }
}
