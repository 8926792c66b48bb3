import KelvinBasics

/// A self-contained page of images with their labels, which can be filtered by label. The page loads nothing, which its
/// content security policy enforces.
package struct ContactSheet: Sendable {
  package struct Image: Sendable {
    /// The caption.
    package var path: String
    /// The labels with formatted confidences, the most confident first.
    package var labels: [(name: String, confidence: String)]
    /// The size of the thumbnail in pixels.
    package var width: Int
    package var height: Int
    /// The thumbnail as a base64-encoded JPEG; nil where there is none.
    package var thumbnail: String?
    /// The message in place of a missing thumbnail.
    package var fault: String?

    package init(
      path: String, labels: [(name: String, confidence: String)], width: Int, height: Int, thumbnail: String?,
      fault: String? = nil
    ) {
      (self.path, self.labels, self.width, self.height) = (path, labels, width, height)
      (self.thumbnail, self.fault) = (thumbnail, fault)
    }
  }

  package var title: String
  /// A summary of the page's content in one sentence.
  package var summary: String
  package var images: [Image]
  package var kelvinVersion: String

  package init(title: String, summary: String, images: [Image], kelvinVersion: String) {
    (self.title, self.summary, self.images, self.kelvinVersion) = (title, summary, images, kelvinVersion)
  }

  /// The largest number of labels that are offered as filters.
  private static let mostFilters = 24

  /// Renders the page.
  ///
  /// - Returns: A complete HTML document in UTF-8.
  package func render() -> String {
    let filters = filters
    let buttons: [Markup] = filters.enumerated().map { index, filter in
      """
      <button type="button" data-filter="\(index)" aria-pressed="false">\(filter.name) <small>\(filter.count)</small></button>
      """
    }
    let numbers = Dictionary(uniqueKeysWithValues: filters.enumerated().map { ($1.name, $0) })
    let body: Markup = """
      <main>
      <header><h1>\(title)</h1><p class="soft">\(summary)</p></header>
      <div class="tools" hidden><input type="search" placeholder="label or name" \
      aria-label="Show images with this label or name"><output></output></div>
      <div class="filters" hidden>\(buttons.count > 1 && filters.contains { $0.count > 1 } ? buttons : [])</div>
      <div class="sheet">\(images.map { Self.figure($0, numbers) })</div>
      <footer><p><small>Kelvin \(kelvinVersion)</small></p></footer>
      </main>
      """
    return PageDocument(
      title: title, style: "\(ReportStyle.words)\(Self.style)", body: body, script: Self.script,
      hasImages: true
    ).html
  }

  /// The most confident labels of the images, the most frequent first.
  private var filters: [(name: String, count: Int)] {
    var counts: [String: Int] = [:]
    for image in images { if let first = image.labels.first { counts[first.name, default: 0] += 1 } }
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.mostFilters).map { ($0.key, $0.value) }
  }

  static func figure(_ entry: Image, _ numbers: [String: Int]) -> Markup {
    let first = entry.labels.first
    let number = first.flatMap { numbers[$0.name] } ?? -1
    let others: [Markup] = entry.labels.dropFirst().map { "<span>\($0.name) \($0.confidence)</span>" }
    let image =
      picture(entry.thumbnail, of: first?.name ?? "", width: entry.width, height: entry.height)
      ?? "<p class=\"fault\">\(breaking: entry.fault ?? "no image")</p>"
    let caption: Markup = first.map { "<b>\($0.name)</b> \($0.confidence)" } ?? ""
    return """
      <figure data-number="\(number)"><div class="frame">\(image)</div><figcaption>\(caption)\
      <small class="path">\(breaking: entry.path)</small>\
      \(others.isEmpty ? "" : "<details><summary><small>more</small></summary>\(others)</details>" as Markup)\
      </figcaption></figure>
      """
  }

  /// Returns an image element; nil for a thumbnail that is missing or not base64.
  static func picture(_ thumbnail: String?, of name: String, width: Int, height: Int) -> Markup? {
    guard let thumbnail, thumbnail.utf8.allSatisfy(isBase64) else { return nil }
    return """
      <img src="data:image/jpeg;base64,\(Markup(raw: thumbnail))" alt="\(name)" width="\(width)" height="\(height)" \
      loading="lazy" decoding="async">
      """
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
      true
    default: false
    }
  }

  static let style: Markup = """
    .sheet{display:grid;grid-template-columns:repeat(auto-fill,minmax(190px,1fr));gap:22px 16px;margin-top:20px}
    figure{margin:0;min-width:0}figure[hidden]{display:none}
    .frame{aspect-ratio:4/3;background:var(--tint);border-radius:8px;overflow:hidden;display:flex;align-items:center;\
    justify-content:center}
    .frame img{width:100%;height:100%;object-fit:contain;display:block}
    .fault{padding:8px 12px;font-size:13px;color:var(--soft);overflow-wrap:anywhere}
    figcaption{margin-top:6px;font-size:14px;line-height:1.4;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
    figcaption .path{display:block}figcaption details span{display:block;font-size:13px;color:var(--soft)}
    figcaption details>summary{font-size:13px;font-weight:400}
    .filters{display:flex;flex-wrap:wrap;align-items:flex-start;gap:8px}.filters[hidden]{display:none}
    .filters button{font-size:14px;max-width:100%;overflow-wrap:anywhere;text-align:left}
    .filters button[aria-pressed=true]{background:var(--accent);border-color:var(--accent);color:var(--bg)}
    .filters button[aria-pressed=true] small{color:inherit}
    @media(max-width:700px){.sheet{grid-template-columns:repeat(2,minmax(0,1fr));gap:16px 10px}\
    .filters{flex-wrap:nowrap;overflow-x:auto;padding-bottom:6px}.filters button{flex:none;max-width:70vw}.tools input{flex:1}}
    @media print{.filters{display:none}figure{break-inside:avoid}}
    """

  private static let script: Markup = """
    'use strict';
    const figures=[...document.querySelectorAll('figure')],text=document.querySelector('input'),\
    count=document.querySelector('output'),buttons=[...document.querySelectorAll('[data-filter]')];
    for(const part of document.querySelectorAll('.tools,.filters'))part.hidden=false;
    const apply=()=>{
    const want=text.value.toLowerCase(),chosen=new Set(buttons.filter(b=>b.getAttribute('aria-pressed')==='true')\
    .map(b=>b.dataset.filter));let shown=0;
    for(const figure of figures){
    const on=(!chosen.size||chosen.has(figure.dataset.number))&&figure.textContent.replace(/\\u00a0/g,' ').toLowerCase()\
    .includes(want);figure.hidden=!on;shown+=on}
    count.textContent=shown+' of '+figures.length};
    text.addEventListener('input',apply);
    for(const button of buttons)button.addEventListener('click',()=>{
    button.setAttribute('aria-pressed',String(button.getAttribute('aria-pressed')!=='true'));apply()});
    apply()
    """
}
