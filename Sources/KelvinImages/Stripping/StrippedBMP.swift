/// Returns a complete BMP, if its length is plausible for its size.
func strippedBMP(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  var limits = limits
  var reader = ImageReader(source)
  try reader.skip(14, of: "its header")
  if try reader.littleEndian(4, of: "its header") == 12 {
    let width = try reader.littleEndian(2, of: "its header")
    try limits.setSize(width, try reader.littleEndian(2, of: "its header"))
  } else {
    let width = Int(Int32(truncatingIfNeeded: try reader.littleEndian(4, of: "its header")))
    // The height is negative where rows are stored from the top.
    let height = Int(Int32(truncatingIfNeeded: try reader.littleEndian(4, of: "its header")))
    try limits.setSize(width, abs(height))
  }
  return try wholeImage(source, limits)
}

/// Returns the whole file, if its length is plausible for an image of its size.
func wholeImage(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  try limits.check(source.count)
  let kept = EncodedBytes()
  try kept.append(source, 0..<source.count)
  return StrippedImage(kept)
}
