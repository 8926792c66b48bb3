// Features are part of the public vocabulary: `FeatureValue`, `MultiArray`, `FeatureDescription`, `ModelError`.
@_exported public import KelvinFeatures
// Pictures are part of the public vocabulary: `PixelBuffer`, `ImageOrientation`, `ImageCropAndScale`.
@_exported public import KelvinImages
