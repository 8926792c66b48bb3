/// Frames per second to three significant digits: `12.3 frames/s`, `0.05 frames/s`.
package func rateText(_ rate: Double) -> String {
  guard rate.isFinite else { return "any number of frames/s" }
  guard rate > 0 else { return "0 frames/s" }
  guard rate < 999.5 else { return rate < 1e15 ? "\(Int(rate.rounded())) frames/s" : "\(rate) frames/s" }
  var scale = 1.0
  while rate * scale < 99.95, scale < 1e9 { scale *= 10 }
  return "\((rate * scale).rounded() / scale) frames/s".replacing(".0 frames", with: " frames")
}
