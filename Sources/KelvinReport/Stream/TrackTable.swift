import KelvinBasics

/// The table of tracks, with thumbnails.
enum TrackTable {
  /// The largest number of rows. Tracks with the most frames are kept.
  private static let mostRows = 500

  static func draw(_ tracks: [StreamPage.TrackSummary], of stream: String) -> Markup {
    guard !tracks.isEmpty else { return "" }
    let longest = tracks.sorted { ($1.frameCount, $0.id) < ($0.frameCount, $1.id) }.prefix(mostRows)
    let kept = longest.sorted { $0.id < $1.id }
    let hasImages = kept.contains { $0.thumbnail != nil }
    let rows: [Markup] = kept.map { track in
      let image: Markup =
        ContactSheet.picture(
          track.thumbnail, of: "\(track.label) \(track.id)", width: track.width, height: track.height) ?? ""
      let length = max(track.lastTime - track.firstTime, 0)
      return """
        <tr><th scope="row">\(track.id)</th>\(hasImages ? "<td class=\"left\">\(image)</td>" as Markup : "")\
        <td class="left">\(track.label.isEmpty ? "—" : track.label)</td><td>\(HumanReadable.seconds(track.firstTime))</td>\
        <td>\(HumanReadable.seconds(track.lastTime))</td><td>\(HumanReadable.seconds(length))</td>\
        <td>\(track.frameCount)</td></tr>
        """
    }
    let rest = tracks.count - kept.count
    let omitted: Markup = rest > 0 ? "<p><small>\(rest) tracks with fewer frames are left out.</small></p>" : ""
    return """
      <h3>\(counted(tracks.count, "track"))</h3><div class="panel"><div class="scroll tall" tabindex="0" role="group" \
      aria-label="Tracks of \(stream)"><table class="tracks"><thead><tr><th scope="col">Track</th>\
      \(hasImages ? "<th scope=\"col\" class=\"left\">Image</th>" as Markup : "")<th scope="col" class="left">Class</th>\
      <th scope="col">First</th><th scope="col">Last</th><th scope="col">Duration</th><th scope="col">Frames</th></tr>\
      </thead><tbody>\(rows)</tbody></table></div>\(omitted)</div>
      """
  }

  static let style: Markup = """
    .tracks td,.tracks th{vertical-align:middle}.tracks img{display:block;max-width:96px;height:auto;max-height:72px;\
    width:auto;border-radius:4px}h3:has(+.panel>.tall){margin:28px 0 0}
    """
}
