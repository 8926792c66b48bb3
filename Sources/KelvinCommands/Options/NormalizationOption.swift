import ArgumentParser
import KelvinVision

/// The option for the normalization of pixels for a plain tensor input.
struct NormalizationOption: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      How pixels become numbers of a plain tensor input: 0:255, 0:1, -1:1 or imagenet (ImageNet's mean and \
      deviation), or your own mean and deviation of red, green and blue in a range, and bgr for that order: \
      0:1/mean=0.5,0.5,0.5/deviation=0.2,0.2,0.2/bgr.
      """,
      valueName: "rule"),
    transform: { text in
      guard let rule = PixelNormalization(rawValue: text) else {
        throw ValidationError("'\(text)' is not a normalization; use \(PixelNormalization.names)")
      }
      return rule
    })
  var normalization: PixelNormalization?
}
