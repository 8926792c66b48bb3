// Features are part of the public vocabulary: `FeatureValue`, `MultiArray`, `FeatureDescription`, `ModelError`.
@_exported public import KelvinFeatures
// Images are part of the public vocabulary: `PixelBuffer`, `ImageOrientation`, `ImageCropAndScale`.
@_exported public import KelvinImages
// The isolation of images and models is part of the public vocabulary.
@_exported public import KelvinIsolation
