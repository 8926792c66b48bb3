import FoundationEssentials
import Glibc
import Kelvin

/// Times predictions with the given sizes, one after another, in one process, for `bench/sizes.py`.
///
///     SizeBench MODEL UNITS THREADS INPUT=AxNxB[,INPUT=…] SIZE…
///
/// An `N` in a shape stands for the size. Prints the seconds of loading, then of each prediction, in a line.
func fail(_ reason: String) -> Never {
  _ = "SizeBench: \(reason)\n".withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
  exit(64)
}

struct FlexibleInput {
  let name: String
  private let dimensions: [Int?]

  init(_ text: Substring) {
    let parts = text.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else { fail("'\(text)' is not INPUT=AxNxB") }
    name = String(parts[0])
    dimensions = parts[1].split(separator: "x").map { part in
      if part == "N" { return nil }
      guard let size = Int(part), size > 0 else { fail("'\(part)' is neither a size nor N") }
      return size
    }
  }

  func shape(_ size: Int) -> [Int] { dimensions.map { $0 ?? size } }
}

/// Zeros, because speed does not depend on the values, and a zero is a valid row of every table.
func features(_ inputs: [FlexibleInput], _ size: Int, of model: Model) throws -> DictionaryFeatureProvider {
  var values: [String: FeatureValue] = [:]
  for input in inputs {
    guard let type = model.modelDescription.inputDescriptionsByName[input.name]?.multiArrayConstraint?.dataType else {
      fail("the model has no array '\(input.name)'")
    }
    values[input.name] = FeatureValue(multiArray: try MultiArray(shape: input.shape(size), dataType: type))
  }
  return DictionaryFeatureProvider(dictionary: values)
}

let arguments = CommandLine.arguments
guard arguments.count > 5, let threads = Int(arguments[3]) else {
  fail("usage: MODEL UNITS THREADS INPUT=AxNxB[,INPUT=…] SIZE…")
}
let sizes = arguments[5...].map { text -> Int in
  guard let size = Int(text), size > 0 else { fail("'\(text)' is not a size") }
  return size
}
let inputs = arguments[4].split(separator: ",").map(FlexibleInput.init)
var configuration = ModelConfiguration()
configuration.computeUnits = .devices([arguments[2]])
configuration.threadCount = threads
configuration.inputShapes = Dictionary(uniqueKeysWithValues: inputs.map { ($0.name, $0.shape(sizes[0])) })
let clock = ContinuousClock()
func seconds(_ duration: Duration) -> Double {
  Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
}
do {
  let began = clock.now
  let model = try Model(contentsOf: URL(filePath: arguments[1]), configuration: configuration)
  print(seconds(clock.now - began))
  for size in sizes {
    let given = try features(inputs, size, of: model)
    print(seconds(try clock.measure { _ = try model.prediction(from: given) }))
  }
} catch { fail("\(error)") }
