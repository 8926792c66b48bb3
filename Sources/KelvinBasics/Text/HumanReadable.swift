import Glibc

/// Numbers for users: three significant digits and a unit. Numbers that are nil or not finite are `—`.
package enum HumanReadable {
  /// Returns a duration: `12.3 ms`, `450 µs`, `1.20 s`; from two minutes on `3 min 20 s`. Durations below half a
  /// nanosecond are `0 s`.
  package static func seconds(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "—" }
    let size = abs(value)
    if size >= 120 {
      let whole = Int(min(size, 1e15).rounded())
      let sign = value < 0 ? "−" : ""
      if whole >= 7200 {
        return "\(sign)\(whole / 3600) h" + (whole / 60 % 60 == 0 ? "" : " \(whole / 60 % 60) min")
      }
      return "\(sign)\(whole / 60) min" + (whole % 60 == 0 ? "" : " \(whole % 60) s")
    }
    if size >= 0.9995 { return significant(value) + " s" }
    if size >= 0.9995e-3 { return significant(value * 1e3) + " ms" }
    if size >= 0.9995e-6 { return significant(value * 1e6) + " µs" }
    return size < 0.5e-9 ? "0 s" : significant(value * 1e9) + " ns"
  }

  /// Returns a range of durations: `1.20 ms to 1.50 ms`; only one if both are displayed equally.
  package static func range(_ least: Double, _ most: Double) -> String {
    let (least, most) = (seconds(least), seconds(most))
    return least == most ? least : "\(least) to \(most)"
  }

  /// Returns a byte count in binary units: `1.50 MiB`.
  package static func bytes(_ count: Int?) -> String {
    guard let count else { return "—" }
    var value = Double(count)
    for unit in ["B", "KiB", "MiB", "GiB"] {
      if abs(value) < 1023.5 { return (unit == "B" ? "\(count)" : significant(value)) + " " + unit }
      value /= 1024
    }
    return significant(value) + " TiB"
  }

  /// Returns a rate: `perSecond(30)` is `30.0 /s`.
  package static func perSecond(_ value: Double?) -> String {
    value?.finite.map { significant($0) + " /s" } ?? "—"
  }

  /// Returns a frame rate: `framesPerSecond(30)` is `30.0 frames/s`; infinity is `any number of frames/s`.
  package static func framesPerSecond(_ value: Double) -> String {
    value.isFinite ? significant(value) + " frames/s" : "any number of frames/s"
  }

  /// Returns a percentage: `percent(0.973)` is `97.3 %`.
  package static func percent(_ share: Double?, decimals: Int = 1) -> String {
    share?.finite.map { fixed($0 * 100, decimals: decimals) + " %" } ?? "—"
  }

  /// Returns a number with three significant digits, or all digits left of the decimal point.
  package static func significant(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "—" }
    let size = abs(value)
    if size == 0 { return "0" }
    if size < 0.001 { return scientific(value) }
    return fixed(value, decimals: size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3)
  }

  /// Returns a multiple: `10 ×`, `0.5 ×`, `3.33 ×`.
  package static func times(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "\(significant(value)) ×" }
    if value == value.rounded() { return "\(Int(value)) ×" }
    var text = significant(value)
    if text.contains("."), !text.contains("e") {
      while text.last == "0" { text.removeLast() }
    }
    return "\(text) ×"
  }

  /// Returns the heading of a region's nodes: `halve/body: 10 × in each inference`. Long names of deeply nested
  /// regions are shortened in the middle.
  package static func region(_ name: String, times count: Double) -> String {
    let name = name.utf8.count > 320 ? "\(name.prefix(120)) … \(name.suffix(120))" : name
    return "\(name): \(times(count)) in each inference"
  }

  /// Returns a number rounded half away from zero, with exactly `decimals` (0...9) digits after the decimal point.
  package static func fixed(_ value: Double, decimals: Int) -> String {
    let places = min(max(decimals, 0), 9)
    let scale = pow(10, Double(places))
    let scaled = (abs(value) * scale).rounded(.toNearestOrAwayFromZero)
    guard scaled < 9e15 else { return "\(value)" }
    let digits = Int(scaled)
    let unit = Int(scale)
    let sign = value < 0 && digits > 0 ? "−" : ""
    guard places > 0 else { return "\(sign)\(digits)" }
    let fraction = String(digits % unit)
    return "\(sign)\(digits / unit)." + String(repeating: "0", count: places - fraction.utf8.count) + fraction
  }

  private static func scientific(_ value: Double) -> String {
    var exponent = Int(log10(abs(value)).rounded(.down))
    var mantissa = value / pow(10, Double(exponent))
    if abs(mantissa) >= 9.995 {
      mantissa /= 10
      exponent += 1
    }
    return fixed(mantissa, decimals: 2) + "e\(exponent)"
  }
}
