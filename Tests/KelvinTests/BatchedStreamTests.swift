import Dispatch
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinMeasuring
import Synchronization
import TestSupport
import Testing

@Suite("Frames in batches")
struct BatchedStreamTests {
  private struct Fault: Error, Equatable {}

  /// The batches of a queue, in their order.
  private final class Batches: Sendable {
    private let kept = Mutex<[[Int]]>([])
    var all: [[Int]] { kept.withLock { $0 } }
    func add(_ batch: [Int]) { kept.withLock { $0.append(batch) } }
  }

  /// Calls a queue from several threads at the same time.
  ///
  /// - Parameter fails: the calls whose inputs cannot be made.
  /// - Returns: the outcome of each call, and the batches in their order.
  private static func calls(
    _ count: Int, limit: Int, fails: Set<Int> = [], run: @escaping @Sendable ([Int]) throws -> [Int]
  ) async -> (outcomes: [Int: Result<Int, Fault>], batches: [[Int]]) {
    let queue = BatchQueue<Int, Int>(limit: limit)
    let batches = Batches()
    var outcomes: [Int: Result<Int, Fault>] = [:]
    await withTaskGroup(of: (Int, Result<Int, Fault>).self) { group in
      for call in 0..<count {
        group.addTask {
          await withCheckedContinuation { continuation in
            BlockingWork.start {
              let outcome = Result {
                try queue.call {
                  if fails.contains(call) { throw Fault() }
                  return call
                } run: { inputs in
                  batches.add(inputs)
                  return try run(inputs)
                }
              }
              continuation.resume(returning: (call, outcome.mapError { _ in Fault() }))
            }
          }
        }
      }
      for await (call, outcome) in group { outcomes[call] = outcome }
    }
    return (outcomes, batches.all)
  }

  @Test("each call gets its own output, and batches are powers of two up to the limit", arguments: [1, 2, 4, 8])
  func ownOutputs(limit: Int) async {
    let (outcomes, batches) = await Self.calls(100, limit: limit) { $0.map { 3 * $0 } }
    #expect(outcomes == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, .success(3 * $0)) }))
    #expect(batches.flatMap { $0 }.sorted() == Array(0..<100), "each call is in one batch")
    #expect(batches.allSatisfy { $0.count <= limit && $0.count.nonzeroBitCount == 1 })
  }

  @Test("calls that begin while a batch runs form the next one, which waits for all of them")
  func joined() throws {
    let queue = BatchQueue<Int, Int>(limit: 8)
    let (begun, ended) = (DispatchSemaphore(value: 0), DispatchGroup())
    let batches = Batches()
    let first = try queue.call({ 0 }) { inputs in
      batches.add(inputs)
      for number in 1...4 {
        ended.enter()
        BlockingWork.start {
          let output = try? queue.call {
            begun.signal()
            return number
          } run: { inputs in
            batches.add(inputs)
            return inputs
          }
          #expect(output == number)
          ended.leave()
        }
      }
      for _ in 1...4 { begun.wait() }
      return inputs
    }
    ended.wait()
    #expect(first == 0)
    #expect(batches.all.map { $0.sorted() } == [[0], [1, 2, 3, 4]])
  }

  @Test("a call without an input does not keep others waiting, and a failed batch fails its own calls only")
  func failures() async {
    let fails: Set = [3, 10, 11]
    let (outcomes, batches) = await Self.calls(40, limit: 4, fails: fails) { inputs in
      if inputs.contains(20) { throw Fault() }
      return inputs
    }
    let failed = Set(batches.first { $0.contains(20) } ?? []).union(fails)
    for call in 0..<40 { #expect(outcomes[call] == (failed.contains(call) ? .failure(Fault()) : .success(call))) }
  }

  private static func model(_ network: BatchNetwork, in folder: TemporaryFolder) throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    configuration.threadCount = 2
    let path = folder.write(network.model(), "\(network.rawValue).onnx")
    return try Model(contentsOf: URL(filePath: path), configuration: configuration)
  }

  @Test("frames of a stream form batches if the plan predicts a gain, and answers are those of single frames")
  func stream() async throws {
    let folder = TemporaryFolder()
    let model = try Self.model(.rows, in: folder)
    var random = SeededGenerator(seed: 1)
    let inputs = try (0..<600).map { _ in
      let row = (0..<192).map { _ in Float(random.unit() - 0.5) }
      let value = FeatureValue(multiArray: try MultiArray(row, shape: [1, 192]))
      return DictionaryFeatureProvider(dictionary: ["x": value])
    }
    let stream = try await FrameStream(model, options: .init(queue: 600, buffer: 600, mostFramesAtOnce: 16))
    #expect(stream.settings.suffix(3) == [2, 4, 8].map { "batches of up to \($0)" })
    for input in inputs { #expect(stream.push(input)) }
    stream.finish()
    var settings: Set<String> = []
    var next = 0
    for try await answer in stream.answers {
      #expect(answer.number == next)
      let seen = try #require(try answer.features()["y"]?.multiArrayValue).doubles
      let alone = try await model.prediction(from: inputs[next])
      let expected = try #require(alone["y"]?.multiArrayValue).doubles
      #expect(zip(seen, expected).allSatisfy { abs($0 - $1) < 1e-5 } && seen.count == 10, "frame \(next)")
      settings.insert(answer.setting)
      next += 1
    }
    #expect(next == 600)
    #expect(settings.contains("batches of up to 2"), "the first size is tried: \(settings)")
  }

  @Test("a model whose rows depend on each other forms no batches, nor does one for single frames only")
  func dependentRows() async throws {
    let folder = TemporaryFolder()
    let scaled = try await FrameStream(
      try Self.model(.scaled, in: folder), options: .init(mostFramesAtOnce: 16))
    #expect(scaled.settings == ["as planned", "2 frames at a time"])
    let single = try await FrameStream(try Self.model(.rows, in: folder), options: .init(mostFramesAtOnce: 1))
    #expect(single.settings == ["as planned"])
  }
}
