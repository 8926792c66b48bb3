/// Returns a WebP's still image or first frame, and its colour profile. Reference: RFC 9649, 2.
func strippedWebP(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  var limits = limits
  var reader = ImageReader(source)
  let kept = EncodedBytes()
  try kept.append(try reader.bytes(12, of: "its header"), name: source.name)
  var orientation: ImageOrientation?
  var hasFrame = false
  while reader.left >= 8 {
    try limits.add()
    let start = reader.position
    let type = String(decoding: try reader.bytes(4, of: "a chunk"), as: UTF8.self)
    let length = try reader.littleEndian(4, of: "a chunk")
    let end = start + 8 + length + length & 1
    // Some writers omit the padding of the last chunk.
    guard end - length & 1 <= source.count else { throw source.ended("its chunk \(type)") }
    let chunk = start..<min(end, source.count)
    switch type {
    case "VP8X":
      try limits.check(kept.count + chunk.count)
      var header = try source.bytes(at: start, atMost: chunk.count)
      if header.count >= 18 {
        func size(_ at: Int) -> Int { 1 + Int(header[at]) + Int(header[at + 1]) << 8 + Int(header[at + 2]) << 16 }
        try limits.setSize(size(12), size(15))
        // Clears the flags of EXIF and XMP, which are omitted.
        header[8] &= ~0x0c
      }
      try kept.append(header, name: source.name)
    case "VP8 ", "VP8L", "ALPH", "ANIM", "ICCP", "ANMF":
      if type == "ANMF", hasFrame { break }
      hasFrame = hasFrame || type == "ANMF"
      if type == "ICCP" { try limits.checkProfile(length) }
      if let size = webPSize(type, try source.bytes(at: start + 8, atMost: 10)) {
        try limits.setSize(size.width, size.height)
      }
      try limits.check(kept.count + chunk.count)
      try kept.append(source, chunk)
    case "EXIF" where length <= ImageLimits.orientationBlock:
      let block = try source.bytes(at: start + 8, atMost: length)
      let hasSignature = block.starts(with: EXIFBlock.signature)
      orientation = EXIFBlock(hasSignature ? Array(block.dropFirst(EXIFBlock.signature.count)) : block)?.orientation
    default: break
    }
    try reader.skip(chunk.upperBound - reader.position, of: "a chunk")
  }
  for (index, shift) in [0, 8, 16, 24].enumerated() {
    kept.slots(4 + index..<5 + index)[0] = UInt8(truncatingIfNeeded: (kept.count - 8) >> shift)
  }
  return StrippedImage(kept, orientation: orientation)
}

/// Returns the size in the header of a bitstream; nil for other chunks.
private func webPSize(_ type: String, _ header: [UInt8]) -> (width: Int, height: Int)? {
  switch type {
  case "VP8 " where header.count == 10:
    (Int(header[6]) | Int(header[7] & 0x3f) << 8, Int(header[8]) | Int(header[9] & 0x3f) << 8)
  case "VP8L" where header.count >= 5:
    (
      1 + (Int(header[1]) | Int(header[2] & 0x3f) << 8),
      1 + (Int(header[2]) >> 6 | Int(header[3]) << 2 | Int(header[4] & 0x0f) << 10)
    )
  default: nil
  }
}
