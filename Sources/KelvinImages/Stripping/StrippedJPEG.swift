/// Returns a JPEG's frame, tables, scans and colour information. Reference: ITU-T T.81, annex B.
func strippedJPEG(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  var limits = limits
  var reader = ImageReader(source)
  let kept = EncodedBytes()
  var orientation: ImageOrientation?
  var profile = 0
  // The start of the bytes that are still to be copied: scan data, and bytes between segments, which make decoders
  // print warnings.
  var pending = 0
  func keep(upTo end: Int) throws(ImageError) {
    try limits.check(kept.count + end - pending)
    try kept.append(source, pending..<end)
    pending = end
  }
  while try reader.pass(to: 0xff) {
    var next = try reader.byte()
    while next == 0xff { next = try reader.byte() }
    guard let marker = next else { break }
    switch marker {
    case 0, 1, 0xd0...0xd8: continue
    case 0xd9:
      try keep(upTo: reader.position)
      return StrippedImage(kept, orientation: orientation)
    default: break
    }
    try limits.add()
    guard reader.left >= 2 else { break }
    let start = reader.position - 2
    let length = try reader.bigEndian(2, of: "a segment")
    let end = start + 2 + max(length, 2)
    guard end <= source.count else { break }
    switch marker {
    case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
      let frame = try source.bytes(at: start + 5, atMost: 4)
      if frame.count == 4 { try limits.setSize(Int(frame[2]) << 8 | Int(frame[3]), Int(frame[0]) << 8 | Int(frame[1])) }
    case 0xe0...0xef, 0xfe:
      let body = try source.bytes(at: start + 4, atMost: min(length - 2, 14))
      if marker == 0xe2, body.starts(with: "ICC_PROFILE\0".utf8) {
        profile += length
        try limits.checkProfile(profile)
      } else if !(marker == 0xe0 && body.starts(with: "JFIF\0".utf8)
        || marker == 0xee && body.starts(with: "Adobe".utf8))
      {
        if marker == 0xe1, orientation == nil, body.starts(with: EXIFBlock.signature) {
          let block = try source.bytes(at: start + 4 + EXIFBlock.signature.count, atMost: length - 2 - 6)
          orientation = EXIFBlock(block)?.orientation
        }
        try keep(upTo: start)
        pending = end
      }
    default: break
    }
    try reader.skip(end - reader.position, of: "a segment")
  }
  try keep(upTo: source.count)
  return StrippedImage(kept, orientation: orientation)
}
