import KelvinBasics
import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinPasses
import KelvinReference
import Testing

/// The outcome of reading a possibly hostile model; every other outcome fails the test.
enum Ending: Equatable { case graph, refused }

/// Builds the graph of every function and runs the passes.
func settle(_ what: @autoclosure () -> String, _ read: () throws -> ModelProgram) -> Ending? {
  do {
    for (_, function) in try read().functions.sorted(by: { $0.key < $1.key }) {
      for graph in try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator()).compactMap(\.graph) {
        try Pipeline.standard(ReferenceEvaluator()).run(graph).graph.verify()
      }
    }
    return .graph
  } catch let error as FormatError {
    if error.description.isEmpty { Issue.record("\(what()): an error without words") }
    return .refused
  } catch let error as GraphError {
    if error.reason.contains("broke the graph") { Issue.record("\(what()): \(error)") }
    return .refused
  } catch {
    Issue.record("\(what()): \(error)")
    return nil
  }
}

func settleONNX(_ bytes: [UInt8], _ what: @autoclosure () -> String = "the model") -> Ending? {
  settle(what()) { try readONNX(Bytes(bytes), path: "/nonexistent/test.onnx") }
}

/// Changes a file as damage or malice would: a bit, a byte, a number made huge, a part cut, doubled or moved.
func mutate(_ original: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
  var bytes = original
  for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
    let place = Int.random(in: 0..<bytes.count, using: &generator)
    let length = Int.random(in: 1...min(24, bytes.count - place), using: &generator)
    switch Int.random(in: 0..<8, using: &generator) {
    case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 2: bytes[place] = .random(in: 0...255, using: &generator)
    case 3: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
    case 4:
      let huge: [UInt64] = [1 << 31, 1 << 40, 1 << 62, .max, 1 << 63, UInt64(bytes.count), 1 << 20]
      bytes.replaceSubrange(place..<place + 1, with: Wire.varint(huge.randomElement(using: &generator) ?? 0))
    case 5: bytes.removeSubrange(place..<place + length)
    case 6: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
    default:
      let other = Int.random(in: 0...bytes.count - length, using: &generator)
      bytes.replaceSubrange(place..<place + length, with: bytes[other..<other + length])
    }
  }
  return bytes
}
