// Programs that import Vision use these modules' names without importing them.
@_exported public import CoreGraphics
@_exported public import CoreImage
@_exported public import CoreML
@_exported public import CoreVideo
@_exported public import Foundation
@_exported public import ImageIO
// The members of requests and observations are visible in programs that use the upcoming feature
// `MemberImportVisibility`.
@_exported public import struct KelvinVision.ClassificationObservation
@_exported public import enum KelvinImages.ImageCropAndScale
