/// `seconds` to three significant digits, in the unit a reader expects: `12.3 µs`, `1.04 ms`, `2 s`.
package func durationText(_ seconds: Double) -> String {
  guard seconds.isFinite else { return "\(seconds) s" }
  let magnitude = abs(seconds)
  let (scale, unit): (Double, String) =
    magnitude == 0 || magnitude >= 0.9995
    ? (1, "s")
    : magnitude >= 0.999_5e-3 ? (1e3, "ms") : magnitude >= 0.999_5e-6 ? (1e6, "µs") : (1e9, "ns")
  let scaled = magnitude * scale
  guard scaled < 1e15 else { return "\(seconds) s" }
  let digits = scaled >= 99.95 ? 1 : scaled >= 9.995 ? 10 : 100
  let units = Int((scaled * Double(digits)).rounded())
  let fraction = units % digits
  var text = "\(units / digits)"
  if fraction > 0 {
    var tail = "\(fraction)"
    if digits == 100, fraction < 10 { tail = "0" + tail }
    while tail.hasSuffix("0") { tail.removeLast() }
    text += "." + tail
  }
  return (seconds < 0 ? "-" : "") + text + " " + unit
}
