import KelvinDevices

/// Sizes of buffers and of their texel views that no driver tells apart.
///
/// llvmpipe compiles a pipeline once more for a view of a buffer whose size is a power of two, and for one of whose size
/// in bytes the bits 8 to 15 are zero (it takes them for an image's levels). Kernels ask for neither, so it is the same code
/// again: a third of what it compiled for ResNet-50.
package enum TexelSize {
  /// Bytes behind a buffer's contents that views may show.
  package static let spare = bufferAlignment

  /// The size of a buffer for so many bytes, at least one.
  package static func buffer(_ byteCount: Int) -> Int {
    var size = byteCount + spare
    while size.nonzeroBitCount == 1 { size += spare }
    return size
  }

  /// The size of a view that shows so many bytes.
  package static func view(_ byteCount: Int) -> Int { byteCount >> 8 & 0xFF == 0 ? byteCount + spare : byteCount }
}
