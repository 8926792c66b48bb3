internal import CKelvinSupport

/// The encodings that can be decoded, recognized by a file's first bytes.
package enum ImageFormat: String, Hashable, Sendable, CaseIterable {
  case jpeg = "JPEG"
  case png = "PNG"
  case webp = "WebP"
  case tiff = "TIFF"
  case gif = "GIF"
  case heif = "HEIF or AVIF"
  case bmp = "BMP"

  /// Recognizes a format.
  ///
  /// - Parameter bytes: The start of a file; 16 bytes suffice.
  package init?(sniffing bytes: some Collection<UInt8>) {
    let head = Array(bytes.prefix(16))
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
      text.withUTF8Buffer { text in head.dropFirst(offset).starts(with: text) }
    }
    if head.starts(with: [0xff, 0xd8, 0xff]) {
      self = .jpeg
    } else if head.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
      self = .png
    } else if has("RIFF"), has("WEBP", at: 8) {
      self = .webp
    } else if head.starts(with: [0x49, 0x49, 42, 0]) || head.starts(with: [0x4d, 0x4d, 0, 42]) {
      self = .tiff
    } else if has("GIF87a") || has("GIF89a") {
      self = .gif
    } else if has("ftyp", at: 4),
      ["avif", "avis", "heic", "heix", "mif1", "msf1"].contains(where: { brand in
        head.dropFirst(8).starts(with: brand.utf8)
      })
    {
      self = .heif
    } else if has("BM"), head.count >= 14 {
      self = .bmp
    } else {
      return nil
    }
  }

  /// The number of libvips' decoder; nil for BMP, which is decoded without libvips.
  var code: ck_image_format? {
    switch self {
    case .jpeg: CK_IMAGE_JPEG
    case .png: CK_IMAGE_PNG
    case .webp: CK_IMAGE_WEBP
    case .tiff: CK_IMAGE_TIFF
    case .gif: CK_IMAGE_GIF
    case .heif: CK_IMAGE_HEIF
    case .bmp: nil
    }
  }
}
