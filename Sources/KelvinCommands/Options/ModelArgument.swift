import ArgumentParser

extension ArgumentHelp {
  /// Of the argument that names a model.
  static let model: ArgumentHelp = "An .mlpackage or .mlmodelc folder, or an .mlmodel or .onnx file."

  /// Of the argument that names images.
  static let images: ArgumentHelp = "Images: JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF."
}
