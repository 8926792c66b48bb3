import KelvinBasics
import KelvinVision

/// The classes of an image, as they are printed.
struct ImageClasses: ImageResult {
  struct Observation: Encodable {
    var identifier: String
    var confidence: Double

    init(_ observation: ClassificationObservation) {
      (identifier, confidence) = (observation.identifier, Double(observation.confidence))
    }
  }

  var image: String
  var observations: [Observation]
  var error: String?

  init(image: String, _ observations: [ClassificationObservation]) {
    self.image = image
    self.observations = observations.map(Observation.init)
  }

  init(image: String, error: String?) { (self.image, self.error, observations) = (image, error, []) }

  static let columns = [TextTable.Column("LABEL", shrinksTo: 16), .init("CONFIDENCE", .right)]
  static let fields = ["identifier", "confidence"]

  var rows: [[String]] { observations.map { [$0.identifier, HumanReadable.percent($0.confidence)] } }
  var labels: [(name: String, figure: String)] { rows.map { ($0[0], $0[1]) } }
  var records: [[String]] { observations.map { [$0.identifier, "\($0.confidence)"] } }
}
