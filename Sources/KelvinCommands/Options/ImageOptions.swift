import ArgumentParser
import Kelvin
import KelvinVision

/// The options for fitting images to a model's input.
struct ImageOptions: ParsableArguments {
  @OptionGroup var fitting: CropOption

  @Option(
    help: ArgumentHelp(
      "The EXIF orientation of the images, 1 to 8. (default: that of each file)", valueName: "n"),
    transform: orientation)
  var orientation: ImageOrientation?

  var cropAndScale: ImageCropAndScale? { fitting.cropAndScale }

  /// Returns a reader for a function's inputs, which decodes images according to these options.
  func reader(
    of file: ReadModel, functionName: String?, _ normalization: PixelNormalization? = nil
  ) throws -> FeatureReader {
    let scaling = normalization.map { rule -> FeatureReader.Scaling in { try Self.scaling(rule, channels: $0) } }
    return try FeatureReader(
      file, functionName: functionName, orientation: orientation, cropAndScale: cropAndScale, scaling: scaling)
  }

  /// Returns how a reader scales pixels for a plain tensor.
  static func scaling(
    _ rule: PixelNormalization, channels: Int
  ) throws -> (order: ChannelOrder, scale: [Float], bias: [Float]) {
    try recognizing { () throws(VisionError) in
      (
        order: channels == 1 ? .grayscale : rule.order, scale: try rule.scale(channels: channels),
        bias: try rule.bias(channels: channels)
      )
    }
  }

  /// The part of help texts about images as arguments and unreadable images.
  static let taken = """
    Images are files, folders with all images below them, patterns such as 'holiday/*.jpg', or - for one image from \
    standard input. An image that cannot be read is reported on a line of its own and does not stop the command; the \
    exit status is then 65.
    """

  private static func orientation(_ text: String) throws -> ImageOrientation {
    guard let orientation = Int(text).flatMap(ImageOrientation.init(rawValue:)) else {
      throw ValidationError("'\(text)' is not an orientation; use a number from 1 to 8")
    }
    return orientation
  }
}

/// The option for the method that fits an image to a model's input size.
struct CropOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      How to fit an image: center-crop, scale-fit or scale-fill, or scale-fit-rotate-90-ccw or \
      scale-fill-rotate-90-ccw, which rotate it first.
      """, valueName: "rule"),
    transform: rule)
  var cropAndScale: ImageCropAndScale?

  private static let rules: [String: ImageCropAndScale] = [
    "center-crop": .centerCrop, "scale-fit": .scaleToFit, "scale-fill": .scaleToFill, "centerCrop": .centerCrop,
    "scaleFit": .scaleToFit, "scaleFill": .scaleToFill, "scale-fit-rotate-90-ccw": .scaleToFitPlus90CCWRotation,
    "scale-fill-rotate-90-ccw": .scaleToFillPlus90CCWRotation, "scaleFitRotate90CCW": .scaleToFitPlus90CCWRotation,
    "scaleFillRotate90CCW": .scaleToFillPlus90CCWRotation,
  ]

  private static func rule(_ text: String) throws -> ImageCropAndScale {
    guard let rule = rules[text] else {
      throw ValidationError(
        "'\(text)' is not a way to fit an image; use center-crop, scale-fit, scale-fill, "
          + "scale-fit-rotate-90-ccw or scale-fill-rotate-90-ccw")
    }
    return rule
  }
}
