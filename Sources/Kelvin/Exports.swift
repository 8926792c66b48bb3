// Pictures are part of the public vocabulary: `PixelBuffer`, `ImageOrientation`, `ImageCropAndScale`.
@_exported public import KelvinImages
