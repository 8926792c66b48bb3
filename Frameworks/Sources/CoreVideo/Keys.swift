// Keys of attributes and attachments.

/// The pixel format of a pool's buffers.
public nonisolated(unsafe) let kCVPixelBufferPixelFormatTypeKey: CFString = "PixelFormatType"

/// The width of a pool's buffers in pixels.
public nonisolated(unsafe) let kCVPixelBufferWidthKey: CFString = "Width"

/// The height of a pool's buffers in pixels.
public nonisolated(unsafe) let kCVPixelBufferHeightKey: CFString = "Height"

/// Ignored: rows begin at multiples of 64 bytes.
public nonisolated(unsafe) let kCVPixelBufferBytesPerRowAlignmentKey: CFString = "BytesPerRowAlignment"

/// Ignored: every buffer may become an image.
public nonisolated(unsafe) let kCVPixelBufferCGImageCompatibilityKey: CFString = "CGImageCompatibility"

/// Ignored: every buffer may become a bitmap context.
public nonisolated(unsafe) let kCVPixelBufferCGBitmapContextCompatibilityKey: CFString = "CGBitmapContextCompatibility"

/// Ignored: Linux has no IOSurface.
public nonisolated(unsafe) let kCVPixelBufferIOSurfacePropertiesKey: CFString = "IOSurfaceProperties"

/// Ignored: Linux has no Metal.
public nonisolated(unsafe) let kCVPixelBufferMetalCompatibilityKey: CFString = "MetalCompatibility"

/// Ignored: a pool allocates a buffer when it is needed.
public nonisolated(unsafe) let kCVPixelBufferPoolMinimumBufferCountKey: CFString = "MinimumBufferCount"

/// The largest number of buffers in use, for ``CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(_:_:_:_:)``.
public nonisolated(unsafe) let kCVPixelBufferPoolAllocationThresholdKey: CFString = "AllocationThreshold"

/// The matrix of a video frame, an attachment.
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrixKey: CFString = "CVImageBufferYCbCrMatrix"

/// The matrix of Rec. 601.
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_ITU_R_601_4: CFString = "ITU_R_601_4"

/// The matrix of Rec. 709.
public nonisolated(unsafe) let kCVImageBufferYCbCrMatrix_ITU_R_709_2: CFString = "ITU_R_709_2"
