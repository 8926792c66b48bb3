import ArgumentParser

extension ArgumentHelp {
  /// The help of the argument that names a model.
  static let model: ArgumentHelp = "An .mlpackage or .mlmodelc folder, or an .mlmodel or .onnx file."

  /// The help of the argument that names images.
  static let images: ArgumentHelp = "Images: JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF."
}
