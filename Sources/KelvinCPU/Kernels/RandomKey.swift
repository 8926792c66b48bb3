import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addRandomKey() {
    add(RandomKey.self) { (op, context) throws(DeviceError) in
      let seed = op.seed.map { UInt64(bitPattern: Int64($0)) } ?? .random(in: .min ... .max)
      let runs = RunCount()
      return CPUKernel { operands, list in
        list.add(
          ck_random_key_run,
          ck_random_key_args(
            seed: seed, runs: runs.address, y: operands.outputs[0].assumingMemoryBound(to: UInt32.self)),
          items: 1, cost: 1)
      }
    }
  }
}

/// The number of runs of a node. The kernel keeps it for all invocations bound to it.
private final class RunCount {
  let address = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

  init() { address.initialize(to: 0) }
  deinit { address.deallocate() }
}
