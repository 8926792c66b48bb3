/// The formatting of pixel coordinates in tables.
enum PixelText {
  /// Rounds to a whole pixel; "—" for a coordinate of a thousand million pixels or more.
  static func whole(_ place: Double) -> String { abs(place) < 1e9 ? "\(Int(place.rounded()))" : "—" }
}
