/// Places in images as tables show them.
enum PixelText {
  /// The nearest whole pixel; "—" for what is so far away that it is none.
  static func whole(_ place: Double) -> String { abs(place) < 1e9 ? "\(Int(place.rounded()))" : "—" }
}
