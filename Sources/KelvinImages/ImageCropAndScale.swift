/// How an image is brought to the size a model asks for.
public enum ImageCropAndScale: String, Hashable, Sendable, CaseIterable {
  /// The short side fits; the middle of the long side is kept.
  case centerCrop
  /// The long side fits; what the image does not cover, on both sides of it, is zero.
  case scaleToFit
  /// Both sides fit, each scaled on its own.
  case scaleToFill
  /// Turned 90 degrees counter-clockwise, then ``scaleToFit``.
  case scaleToFitPlus90CCWRotation
  /// Turned 90 degrees counter-clockwise, then ``scaleToFill``.
  case scaleToFillPlus90CCWRotation

  /// Whether the image is turned 90 degrees counter-clockwise before it is scaled.
  package var rotates: Bool { self == .scaleToFitPlus90CCWRotation || self == .scaleToFillPlus90CCWRotation }
}

/// Where one axis of an image is drawn in the target: `drawn` target pixels long from `inset` on, which is negative
/// where the image is cropped.
package struct AxisPlacement: Hashable, Sendable {
  package let inset: Int
  package let drawn: Int
}

extension ImageCropAndScale {
  /// Places a source of `width` x `height` pixels in a target.
  ///
  /// With s = max(W/w, H/h) for a crop and min(W/w, H/h) for a fit, the image is drawn `s * side` pixels long,
  /// rounded to a whole pixel and at least one, and centred; an odd remainder puts the smaller half first. This is the
  /// geometry measured on Core ML's own image constructor.
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
