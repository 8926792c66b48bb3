import FoundationEssentials
import Kelvin
import KelvinVision

let model = try await Model.load(contentsOf: URL(filePath: CommandLine.arguments[1]))
var request = CoreMLRequest(model: try CoreMLModelContainer(model: model))
request.cropAndScaleAction = .centerCrop
let found = try ImageRequestHandler(URL(filePath: CommandLine.arguments[2])).perform(request)
for case let seen as ClassificationObservation in found.prefix(3) { print(seen.identifier, seen.confidence) }
