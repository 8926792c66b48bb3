import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport

/// The models and the image of `Tests/Vision`, and what NumPy says they give.
enum VisionFixture {
  static let folder = "\(SharedFiles.projectRoot)/Tests/Vision"
  static let scene = URL(filePath: "\(folder)/scene.png")

  struct Expected: Decodable {
    struct Segmentation: Decodable {
      var rule: String
      var orientation: Int
      var rows: [String]
    }
    struct Detection: Decodable {
      struct Object: Decodable {
        /// x, y, width, height from the lower left corner.
        var box: [Double]
        var scores: [String: Double]
      }
      var rule: String
      var orientation: Int
      /// x, y, width, height in pixels from the top left corner.
      var region: [Int]?
      var objects: [Object]
    }
    var labels: [String]
    /// For red, green and blue: precision, then recall, as (threshold, value).
    var curves: [[[[Float]]]]
    var segment: [Segmentation]
    var detect: [Detection]
  }

  static let expected: Expected? = try? JSONDecoder().decode(
    Expected.self, from: Data(contentsOf: URL(filePath: "\(folder)/expected.json")))

  static func container(_ file: String) async throws -> CoreMLModelContainer {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try await Model.load(
      contentsOf: URL(filePath: file.hasPrefix("/") ? file : "\(folder)/\(file)"), configuration: configuration)
    return try CoreMLModelContainer(model: model)
  }
}
