/// The colour, pattern and letter of each device, by its index in the input. The colours are distinguishable for normal
/// sight and for simulated protanopia, deuteranopia and tritanopia (`dev/make-palette.py`). Patterns and letters do not
/// depend on colour vision.
struct ReportPalette {
  static let count = 6
  private let index: [String: Int]
  private let letters: [String: String]

  init(_ devices: [ReportDevice]) {
    index = Dictionary(devices.enumerated().map { ($1.id, $0 % Self.count) }, uniquingKeysWith: { first, _ in first })
    func initial(_ id: String) -> String { id.first.map { String($0).uppercased() } ?? "?" }
    let shared = Dictionary(grouping: Set(devices.map(\.id)), by: initial)
    letters = Dictionary(
      devices.map { device in
        let letter = initial(device.id)
        let alone = shared[letter]?.count == 1
        return (device.id, alone ? letter : letter + String(device.id.drop { $0 != ":" }.dropFirst().prefix(1)))
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns a device's letter, followed by its number if several devices share the letter: `C`, `V0`.
  func letter(_ device: String) -> String { letters[device] ?? "?" }

  /// Returns the CSS paint of a device; grey for an unknown device. On paper the paint is a plain colour, because
  /// printed patterns make files very large.
  func fill(_ device: String) -> Markup {
    guard let number = index[device] else { return "fill:var(--soft)" }
    return "fill:var(--p\(number))"
  }

  func colour(_ device: String) -> Markup {
    guard let number = index[device] else { return "var(--soft)" }
    return "var(--d\(number))"
  }

  /// Returns a device's badge and its identifier.
  func chip(_ device: String) -> Markup { "<span class=\"chip\">\(badge(device))\(device)</span>" }

  /// Returns a square in the device's pattern with its letter.
  func badge(_ device: String) -> Markup {
    """
    <svg class="badge" width="18" height="18" aria-hidden="true"><rect width="18" height="18" rx="3" \
    style="\(fill(device))"/><text x="9" y="13" class="mark">\(letter(device))</text></svg>
    """
  }

  /// The definitions of the patterns, which a page contains once.
  static let definitions: Markup = {
    let strokes: [Markup] = [
      "",
      "<path d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>",
      "<path d=\"M2 2h.01M6 6h.01\" stroke-width=\"2.6\" stroke-linecap=\"round\"/>",
      "<path d=\"M2 0v8M6 0v8\"/>",
      "<path d=\"M0 2h8M0 6h8\"/>",
      "<path d=\"M-2 6l4 4M0 0l8 8M6-2l4 4M0 8l8-8\"/>",
    ]
    let patterns: [Markup] = strokes.enumerated().map { number, stroke in
      """
      <pattern id="p\(number)" width="8" height="8" patternUnits="userSpaceOnUse">\
      <rect width="8" height="8" style="fill:var(--d\(number))"/>\
      <g style="stroke:var(--hatch);fill:none" stroke-width="1.2">\(stroke)</g></pattern>
      """
    }
    return """
      <svg class="defs" width="0" height="0" aria-hidden="true"><defs>\(patterns)\
      <pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse">\
      <path d="M0 6l6-6" style="stroke:var(--soft)" stroke-width="1"/></pattern></defs></svg>
      """
  }()
}
