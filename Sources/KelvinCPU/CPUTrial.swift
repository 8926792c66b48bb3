import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// Runs kernels of single nodes on memory of their own, to compare their times. Everything they read is zero.
final class CPUTrial {
  private let graph: Graph
  private let threads: Int
  private let clock = ContinuousClock()

  init(_ graph: Graph, threads: Int) {
    self.graph = graph
    self.threads = threads
  }

  /// Seconds that one run takes.
  func seconds(_ node: Node, _ kernel: CPUKernel) throws(DeviceError) -> Double {
    var memory: [UnsafeMutableRawPointer] = []
    defer { for block in memory { block.deallocate() } }
    func zeros(_ byteCount: Int) -> UnsafeMutableRawPointer {
      let block = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: bufferAlignment)
      block.initializeMemory(as: UInt8.self, repeating: 0, count: max(byteCount, 1))
      memory.append(block)
      return block
    }
    let packed = Set(kernel.packs.flatMap(\.inputs))
    let operands = CPUOperands(
      inputs: node.inputs.enumerated().map { position, id in
        packed.contains(position) ? nil : UnsafeRawPointer(zeros(graph[id].type.innerByteCount))
      },
      outputs: node.outputs.map { zeros(graph[$0].type.innerByteCount) },
      packs: kernel.packs.map { UnsafeRawPointer(zeros($0.byteCount)) }, temporaries: kernel.temporaries.map(zeros))
    let list = CPUTaskList(threads: threads)
    kernel.record(operands, list)
    let stride = (kernel.threadByteCount + bufferAlignment - 1) / bufferAlignment * bufferAlignment
    let scratch = zeros(stride * threads)
    return list.tasks.withUnsafeBufferPointer { tasks in
      var job = ck_job()
      job.tasks = tasks.baseAddress
      job.count = tasks.count
      job.threads = threads
      job.scratch = scratch
      job.scratch_stride = stride
      let start = clock.now
      _ = ck_pool_run(ck_pool_shared(), &job)
      let taken = (clock.now - start).components
      return Double(taken.seconds) + Double(taken.attoseconds) * 1e-18
    }
  }
}
