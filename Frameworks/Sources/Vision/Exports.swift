// Programs that import Vision use these modules' names without importing them.
@_exported public import CoreGraphics
@_exported public import CoreImage
@_exported public import CoreML
@_exported public import CoreVideo
@_exported public import Foundation
@_exported public import ImageIO
