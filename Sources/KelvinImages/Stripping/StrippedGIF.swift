/// Returns a GIF's logical screen and its first image. Reference: CompuServe, "Graphics Interchange Format", version
/// 89a.
func strippedGIF(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  var limits = limits
  var reader = ImageReader(source)
  let kept = EncodedBytes()
  let screen = try reader.bytes(13, of: "its header")
  try limits.setSize(Int(screen[6]) | Int(screen[7]) << 8, Int(screen[8]) | Int(screen[9]) << 8)
  if screen[10] & 0x80 != 0 { try reader.skip(3 << (Int(screen[10] & 7) + 1), of: "its colours") }
  try kept.append(source, 0..<reader.position)
  /// Skips a sequence of blocks including the empty block at its end.
  func skipBlocks(_ part: String) throws(ImageError) {
    while let size = try reader.byte(), size > 0 { try reader.skip(Int(size), of: part) }
  }
  while let introducer = try reader.byte() {
    try limits.add()
    let start = reader.position - 1
    switch introducer {
    case 0x21:
      let label = try reader.byte()
      try skipBlocks("an extension")
      // The graphic control extension contains the next image's transparent colour.
      if label == 0xf9 { try kept.append(source, start..<reader.position) }
    case 0x2c:
      let image = try reader.bytes(9, of: "its image")
      let corner = (Int(image[0]) | Int(image[1]) << 8, Int(image[2]) | Int(image[3]) << 8)
      let size = (Int(image[4]) | Int(image[5]) << 8, Int(image[6]) | Int(image[7]) << 8)
      try limits.setSize(corner.0 + size.0, corner.1 + size.1)
      if image[8] & 0x80 != 0 { try reader.skip(3 << (Int(image[8] & 7) + 1), of: "its colours") }
      try reader.skip(min(1, reader.left), of: "its image")
      try skipBlocks("its image")
      try limits.check(kept.count + reader.position - start)
      try kept.append(source, start..<reader.position)
      try kept.append([0x3b], name: source.name)
      return StrippedImage(kept)
    default:
      try kept.append([introducer], name: source.name)
      return StrippedImage(kept)
    }
    try limits.check(kept.count)
  }
  return StrippedImage(kept)
}
