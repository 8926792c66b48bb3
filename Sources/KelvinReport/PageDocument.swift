/// A self-contained page. The page loads nothing, which its content security policy enforces.
struct PageDocument {
  var title: String
  var style: Markup
  /// The content of the body element.
  var body: Markup
  /// The script, which runs after the page is parsed.
  var script: Markup?
  /// Whether the page contains images as `data:` URLs.
  var hasImages = false

  /// The complete HTML document in UTF-8.
  var html: String {
    let images: Markup = hasImages ? "img-src data:; " : ""
    let scripts: Markup = script == nil ? "" : "script-src 'unsafe-inline'; "
    let element: Markup = script.map { "<script>\($0)</script>\n" } ?? ""
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \(images)style-src 'unsafe-inline'; \
      \(scripts)base-uri 'none'; form-action 'none'">
      <title>\(title) — Kelvin</title>
      <style>\(style)</style>
      </head>
      <body>
      \(body)
      \(element)</body>
      </html>

      """
    return page.html
  }
}
