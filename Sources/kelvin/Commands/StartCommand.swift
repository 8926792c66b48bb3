import ArgumentParser
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// One complete start, timed: what `bench` runs in a process of its own. Not for people.
struct StartCommand: ParsableCommand {
  static let name = "start-once"
  static let configuration = CommandConfiguration(
    commandName: StartCommand.name, abstract: "Starts once, for 'bench'.", shouldDisplay: false)

  @Argument(help: "A file that 'bench' wrote.")
  var request: String

  func run() throws {
    let began = KelvinTool.began
    ChildProcess.endWithParent()
    let request = try JSONDecoder().decode(StartRequest.self, from: Data(try InputFile.read(self.request)))
    guard request.version == StartRequest.currentVersion else {
      throw InputError("the request is of version \(request.version), expected \(StartRequest.currentVersion)")
    }
    guard let units = UnitsSelection(request.units), let precision = Precision(rawValue: request.precision) else {
      throw InputError("units '\(request.units)' or precision '\(request.precision)' mean nothing")
    }
    let inventory = deviceInventory
    _ = try units.devices(in: inventory)
    let devicesOpen = MonotonicClock.now()
    var options = LoadOptions()
    options.request = PlanRequest(
      units: units, isStrict: request.isStrict, precision: precision, threads: request.threads)
    options.plan = request.plan
    options.shapes = request.shapes.mapValues { Shape($0) }
    options.function = request.function
    options.isDeterministic = request.isDeterministic
    options.cacheDirectory = request.cacheDirectory
    let model = try LoadedModel(path: request.model, options: options, inventory: inventory)
    let explanation = try model.explain()
    let loaded = MonotonicClock.now()
    let session = try model.compile(explanation).makeSession()
    let compiled = MonotonicClock.now()
    try Self.write(request.inputs, to: session, model.context.graph)
    try session.run()
    let answered = MonotonicClock.now()
    let answer = StartAnswer(
      began: began, devicesOpen: devicesOpen, loaded: loaded, compiled: compiled, answered: answered)
    Console.write(
      String(decoding: try JSONText.encode(answer), as: UTF8.self) + "\n", to: ChildProcess.answerDescriptor)
  }

  private static func write(_ file: String, to session: Session, _ graph: Graph) throws {
    let bytes = try Bytes(mapping: file)
    let sizes = graph.inputs.map { graph[$0].type.byteCount }
    guard bytes.count == sizes.reduce(0, +) else {
      throw InputError("the inputs are \(bytes.count) bytes, the model takes \(sizes.reduce(0, +))")
    }
    bytes.withUnsafeBytes { raw in
      var offset = 0
      for (index, size) in sizes.enumerated() {
        session.withInput(index) {
          $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: raw[offset..<offset + size]))
        }
        offset += size
      }
    }
  }
}
