import KelvinDevices

/// Sizes of buffers and texel views for which no driver compiles separate code.
///
/// llvmpipe compiles a pipeline again for a view of a buffer whose size is a power of two. It also does so for a view
/// whose size in bytes has zeros in bits 8 to 15, which it takes for mipmap levels of an image. Kernels use neither, so
/// the code would be the same.
package enum TexelSize {
  /// Bytes after a buffer's contents that views may include.
  package static let spare = bufferAlignment

  /// Returns the size of a buffer for this many bytes, at least one.
  package static func buffer(_ byteCount: Int) -> Int {
    var size = byteCount + spare
    while size.nonzeroBitCount == 1 { size += spare }
    return size
  }

  /// Returns the size of a view of this many bytes.
  package static func view(_ byteCount: Int) -> Int { byteCount >> 8 & 0xFF == 0 ? byteCount + spare : byteCount }
}
