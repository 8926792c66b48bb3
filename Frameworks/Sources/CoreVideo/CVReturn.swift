/// The result of a function of Core Video.
public typealias CVReturn = Int32

/// The function succeeded.
public let kCVReturnSuccess: CVReturn = 0
/// An error that no other code describes.
public let kCVReturnError: CVReturn = -6660
/// An argument is not valid, such as rows that overlap.
public let kCVReturnInvalidArgument: CVReturn = -6661
/// Memory could not be allocated.
public let kCVReturnAllocationFailed: CVReturn = -6662
/// The function is not supported.
public let kCVReturnUnsupported: CVReturn = -6663
/// The pixel format is not supported.
public let kCVReturnInvalidPixelFormat: CVReturn = -6680
/// The size is not valid.
public let kCVReturnInvalidSize: CVReturn = -6681
/// The attributes are not valid, such as those of a pool without a size.
public let kCVReturnInvalidPixelBufferAttributes: CVReturn = -6682
/// The attributes do not permit the use as a texture.
public let kCVReturnPixelBufferNotOpenGLCompatible: CVReturn = -6683
/// A pool has as many buffers in use as its threshold allows.
public let kCVReturnWouldExceedAllocationThreshold: CVReturn = -6689
/// A pool could not be created.
public let kCVReturnPoolAllocationFailed: CVReturn = -6690
