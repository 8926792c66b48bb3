import GraphParsing
import FoundationEssentials
import KelvinCommands
import KelvinFeatures
import KelvinGraph
import KelvinProfiler
import KelvinRuntime

extension FuzzTarget {
  static let texts = [
    FuzzTarget("graph", GraphError.self, longest: 2048, seeds: Seeds.graphs) { bytes in
      // A graph that was read is written as a string that reads the same.
      let graph = try Graph(parsing: String(decoding: bytes, as: UTF8.self), weights: [:])
      let again = try Graph(parsing: graph.description, weights: [:])
      precondition(again.description == graph.description, graph.description)
    },
    // A line of arguments, parted by spaces.
    FuzzTarget("arguments", RuntimeError.self, longest: 512, trials: 150, seeds: Seeds.arguments) { bytes in
      let arguments = String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
      guard let objection = ParsedCommandLine.objection(to: arguments) else { return }
      precondition(!objection.isEmpty)
    },
    FuzzTarget(
      "link", RuntimeError.self, longest: 64, seeds: Seeds.texts("cpu:vulkan:0=64GB/s,5us", "vulkan:0:cpu=1e3KiB/s")
    ) { bytes in
      _ = try LinkOverride(String(decoding: bytes, as: UTF8.self), devices: ["cpu", "vulkan:0"])
    },
    FuzzTarget("units", RuntimeError.self, longest: 64, seeds: Seeds.texts("cpu-and-gpu", "cpu,vulkan:0", "all")) {
      bytes in
      guard let units = UnitsSelection(String(decoding: bytes, as: UTF8.self)) else { return }
      // The description of units names the same units.
      precondition(UnitsSelection(units.description) == units, units.description)
    },
    FuzzTarget("coload", RuntimeError.self, longest: 64, seeds: Seeds.texts("cpu=0.3", "memory=4GB/s", "cache=16MB")) {
      bytes in
      let parts = String(decoding: bytes, as: UTF8.self).split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { return }
      var load = CoLoad()
      guard load.set(parts[0], to: parts[1]) == nil else { return }
      for item in load.items { precondition(load.set(item.name, to: item.text) == nil, item.text) }
    },
    FuzzTarget("labels", ModelError.self, longest: 256, seeds: Seeds.texts("tench\ngoldfish\r\n\n", "\u{FEFF}a\n")) {
      bytes in
      _ = LabelFile.labels(in: String(decoding: bytes, as: UTF8.self))
    },
  ]
}

extension Seeds {
  /// The graphs before and after the passes of their examples, those without weights.
  static var graphs: [[UInt8]] {
    files([".txt"], in: "Tests/Golden/passes").flatMap { file in
      String(decoding: file, as: UTF8.self).split(separator: "\n\n").map { section in
        section.split(separator: "\n").dropFirst().map { "\($0.dropFirst(2))\n" }.joined()
      }
    }
    .filter { (try? Graph(parsing: $0, weights: [:])) != nil }.map { Array($0.utf8) }
  }

  static var arguments: [[UInt8]] {
    document("arguments.txt").flatMap { $0.split(separator: UInt8(ascii: "\n")).map(Array.init) }
  }
}
