// Programs that import Core ML use these modules' names without importing them.
@_exported public import CoreGraphics
@_exported public import CoreVideo
@_exported public import Foundation
@_exported public import ImageIO
// The members of ``MLShapedArray`` are visible in programs that use the upcoming feature `MemberImportVisibility`.
@_exported public import struct KelvinFeatures.ShapedArray
