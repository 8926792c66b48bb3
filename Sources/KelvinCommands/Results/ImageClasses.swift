import KelvinBasics
import KelvinVision

/// The classes of an image, as they are printed.
struct ImageClasses: ImageResult {
  var image: String
  var observations: [ClassificationObservation] = []
  var error: String?

  init(image: String, _ observations: [ClassificationObservation]) {
    (self.image, self.observations) = (image, observations)
  }

  init(image: String, error: String?) { (self.image, self.error) = (image, error) }

  static let columns = [TextTable.Column("LABEL", shrinksTo: 16), .init("CONFIDENCE", .right)]
  static let fields = ["identifier", "confidence"]

  var document: JSONObject { ["image": image, "observations": observations.map(\.document), "error": error] }
  var rows: [[String]] { observations.map { [$0.identifier, HumanReadable.percent(Double($0.confidence))] } }
  var labels: [(name: String, figure: String)] { rows.map { ($0[0], $0[1]) } }
  var records: [[String]] { observations.map { [$0.identifier, "\(Double($0.confidence))"] } }
}

extension ClassificationObservation {
  var document: JSONObject { document(.all) }

  func document(_ decimals: Decimals) -> JSONObject {
    ["identifier": identifier, "confidence": decimals.share(confidence)]
  }
}
