import KelvinBasics

/// A treemap of the parts of a model's files. The tiles of a coding are together. A tile leads to its row in the table.
///
/// The page has two drawings, for wide and for narrow windows, of which one is shown. Labels keep a readable size.
enum SizeTreemap {
  /// The number of tiles; further parts are drawn as one.
  private static let mostTiles = 300
  /// The width of a character and the height of a line of a label.
  private static let (letterWidth, lineHeight) = (7.4, 15.0)
  private static let margin = 5.0

  /// A rectangle of the drawing: one part, or all that are too small to be drawn.
  private struct Tile {
    var label: String
    var tip: String
    var link: Markup
    var byteCount: Int
    var coding: SizePage.Coding
  }

  /// - Parameter parts: In descending order of bytes.
  static func draw(_ parts: [SizePage.Part]) -> Markup {
    let total = parts.reduce(0) { $0 + $1.byteCount }
    guard total > 0 else { return "<p>The files are empty.</p>" }
    func words(_ bytes: Int) -> String {
      "\(HumanReadable.bytes(bytes)), \(HumanReadable.percent(Double(bytes) / Double(total)))"
    }
    let shown = parts.prefix(mostTiles)
    let affixes = SharedAffixes(shown.filter { $0.coding != .other }.map(\.name))
    var tiles = shown.enumerated().map { place, part in
      let facts = [words(part.byteCount), "\(part.form) \(part.shape)".trimmed].filter { !$0.isEmpty }
      return Tile(
        label: part.coding == .other ? part.name : affixes.removed(from: part.name),
        tip: "\(part.name): \(facts.joined(separator: ", "))", link: "t\(place)", byteCount: part.byteCount,
        coding: part.coding)
    }
    let rest = parts.dropFirst(mostTiles)
    if !rest.isEmpty {
      let bytes = rest.reduce(0) { $0 + $1.byteCount }
      let name = "\(rest.count) smaller parts"
      tiles.append(
        Tile(label: name, tip: "\(name): \(words(bytes))", link: "t\(mostTiles)", byteCount: bytes, coding: .other))
    }
    return """
      <figure class="treemap" role="group" aria-label="Treemap of the bytes: each tile is a part of the files">\
      \(drawing(tiles, width: 1000, height: 480, name: "broad"))\
      \(drawing(tiles, width: 360, height: 440, name: "narrow"))</figure>
      """
  }

  private static func drawing(_ tiles: [Tile], width: Double, height: Double, name: Markup) -> Markup {
    let groups = SizePage.Coding.allCases.map { coding in tiles.filter { $0.coding == coding } }
    let areas = Treemap.tiles(
      groups.map { group in Double(group.reduce(0) { $0 + $1.byteCount }) },
      in: Treemap.Rectangle(x: 0, y: 0, width: width, height: height))
    let drawn: [Markup] = zip(groups, areas).flatMap { group, area in
      zip(group, Treemap.tiles(group.map { Double($0.byteCount) }, in: area)).map(tile)
    }
    return "<svg class=\"\(name)\" viewBox=\"0 0 \(width) \(height)\">\(drawn)</svg>"
  }

  private static func tile(_ tile: Tile, _ area: Treemap.Rectangle) -> Markup {
    """
    <a class="tile" href="#\(tile.link)" aria-label="\(tile.tip)"><rect x="\(exact: area.x)" y="\(exact: area.y)" \
    width="\(exact: area.width)" height="\(exact: area.height)" style="fill:var(--p\(tile.coding.rawValue))"/>\
    \(label(tile, area))<title>\(tile.tip)</title></a>
    """
  }

  /// Returns the name and the bytes of a tile, as far as they fit.
  private static func label(_ tile: Tile, _ area: Treemap.Rectangle) -> Markup {
    let columns = Int((area.width - 2 * margin) / letterWidth)
    let lines = Int((area.height - margin) / lineHeight)
    guard columns >= 5, lines >= 1 else { return "" }
    let name = tile.label.beginning(fitting: columns)
    let size = HumanReadable.bytes(tile.byteCount)
    let x = area.x + margin
    let first: Markup = "<text x=\"\(x)\" y=\"\(area.y + lineHeight)\">\(name)</text>"
    guard lines >= 2, size.count <= columns else { return first }
    return "\(first)<text x=\"\(x)\" y=\"\(area.y + 2 * lineHeight)\">\(size)</text>"
  }

  /// Returns a square in the colour and pattern of a coding.
  static func badge(_ coding: SizePage.Coding) -> Markup {
    """
    <svg class="badge" width="18" height="18" aria-hidden="true"><rect width="18" height="18" rx="3" \
    style="fill:var(--p\(coding.rawValue))"/></svg>
    """
  }

  static let style: Markup = """
    h1 wbr{display:inline}.treemap{margin:8px 0}.treemap svg{width:100%;height:auto}.treemap .narrow{display:none}
    .tile rect{stroke:var(--bg);stroke-width:1}.tile{outline:none}
    .tile:hover rect,.tile:focus rect{stroke:var(--ink);stroke-width:3}
    .tile text{fill:#fff;font-size:12px;paint-order:stroke;stroke:#000b;stroke-width:2.5px;stroke-linejoin:round;\
    pointer-events:none}
    @media(max-width:700px){.treemap .broad{display:none}.treemap .narrow{display:block}}
    @media print{.treemap .broad{display:block}.treemap .narrow{display:none}.treemap{break-inside:avoid}\
    .late{display:none}}
    @media screen{.printed{display:none}}
    """

  /// Makes each drawing one stop of the tab key, with arrow keys from tile to tile.
  static let script: Markup = """
    'use strict';
    for(const map of document.querySelectorAll('.treemap svg')){
    const tiles=[...map.querySelectorAll('.tile')];
    tiles.forEach((tile,n)=>{
    tile.tabIndex=n?-1:0;
    tile.addEventListener('keydown',e=>{
    const step={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[e.key],
    next=step?n+step:{Home:0,End:tiles.length-1}[e.key];
    if(!tiles[next])return;
    e.preventDefault();tile.tabIndex=-1;tiles[next].tabIndex=0;tiles[next].focus()})})}
    """
}

extension Markup.StringInterpolation {
  /// Interpolates a coordinate with three decimals, so that neighbouring tiles meet.
  fileprivate mutating func appendInterpolation(exact coordinate: Double) {
    html += HumanReadable.fixed(coordinate.isFinite ? min(max(coordinate, 0), 1e6) : 0, decimals: 3)
  }
}

/// The beginning and the end that several names share, up to a separator: the scope of a model, a suffix of a converter.
private struct SharedAffixes {
  private let beginning: Int
  private let end: Int

  init(_ names: [String]) {
    guard let first = names.first.map(Array.init), names.count > 1 else {
      (beginning, end) = (0, 0)
      return
    }
    func shared(_ one: some Collection<Character>, _ other: some Collection<Character>) -> Int {
      zip(one, other).prefix { $0 == $1 }.count
    }
    let others = names.dropFirst()
    let start = others.reduce(first.count) { min($0, shared(first, $1)) }
    beginning = first.prefix(start).lastIndex(where: Self.isSeparator).map { $0 + 1 } ?? 0
    let tail = others.reduce(first.count) { min($0, shared(first.reversed(), $1.reversed())) }
    end = first.suffix(tail).firstIndex(where: Self.isSeparator).map { first.count - $0 } ?? 0
  }

  private static func isSeparator(_ character: Character) -> Bool { "_./:".contains(character) }

  /// Returns the name without them; the name itself if nothing else is in it.
  func removed(from name: String) -> String {
    name.count > beginning + end ? String(name.dropFirst(beginning).dropLast(end)) : name
  }
}

extension String {
  /// The string without spaces at its ends.
  fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }

  /// Returns the string, with its end replaced by an ellipsis if it is wider than a number of columns.
  fileprivate func beginning(fitting columns: Int) -> String {
    guard self.columns > columns else { return self }
    var kept = self[...]
    while !kept.isEmpty, String(kept).columns >= columns { kept.removeLast() }
    return "\(kept)…"
  }
}
