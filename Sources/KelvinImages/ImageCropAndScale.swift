/// The method that fits an image to a model's input size.
public enum ImageCropAndScale: String, Hashable, Sendable, CaseIterable {
  /// Scales the image to cover the target, and crops the longer side to its middle.
  case centerCrop
  /// Scales the whole image to fit into the target, centred. The uncovered bars are zero.
  case scaleToFit
  /// Stretches both sides to the target's size independently.
  case scaleToFill
  /// Rotates the image counter-clockwise by 90 degrees, then applies ``scaleToFit``.
  case scaleToFitPlus90CCWRotation
  /// Rotates the image counter-clockwise by 90 degrees, then applies ``scaleToFill``.
  case scaleToFillPlus90CCWRotation

  /// Whether the image is rotated counter-clockwise by 90 degrees before it is scaled.
  package var rotates: Bool { self == .scaleToFitPlus90CCWRotation || self == .scaleToFillPlus90CCWRotation }
}

/// The placement of an image along one axis of the target: the image covers `drawn` target pixels from `inset` on. The
/// inset is negative where the image is cropped.
package struct AxisPlacement: Hashable, Sendable {
  package let inset: Int
  package let drawn: Int
}

extension ImageCropAndScale {
  /// Places a source of `width` × `height` pixels in a target.
  ///
  /// The scale is s = max(W/w, H/h) for a crop and min(W/w, H/h) for a fit. The image covers `s * side` pixels, rounded
  /// to a whole pixel and at least one. The image is centred; an odd remainder puts the smaller half first. This
  /// geometry equals that of Core ML's own image constructor.
  package func place(
    width: Int, height: Int, targetWidth: Int, targetHeight: Int
  ) -> (x: AxisPlacement, y: AxisPlacement) {
    let byWidth = Double(targetWidth) / Double(width)
    let byHeight = Double(targetHeight) / Double(height)
    let scale: Double
    switch self {
    case .scaleToFill, .scaleToFillPlus90CCWRotation:
      return (AxisPlacement(inset: 0, drawn: targetWidth), AxisPlacement(inset: 0, drawn: targetHeight))
    case .centerCrop: scale = max(byWidth, byHeight)
    case .scaleToFit, .scaleToFitPlus90CCWRotation: scale = min(byWidth, byHeight)
    }
    func axis(_ side: Int, _ ratio: Double, _ target: Int) -> AxisPlacement {
      let drawn = ratio == scale ? target : max(1, Int((Double(side) * scale).rounded()))
      return AxisPlacement(inset: (target - drawn) / 2, drawn: drawn)
    }
    return (axis(width, byWidth, targetWidth), axis(height, byHeight, targetHeight))
  }
}
