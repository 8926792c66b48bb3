/// The workloads that go by a name. `Profiles/workloads/` holds the same ones as files to start from.
package let workloads: [Workload] = [
  Workload(
    name: "one-shot",
    summary: "One photo, then more: starting, the first answer, and the warm 90th percentile (MLPerf SingleStream).",
    kind: .oneShot),
  Workload(
    name: "stream", summary: "A camera: frames arrive at a steady rate, and an old frame is worth nothing.",
    kind: .stream, iterations: 24),
  Workload(
    name: "throughput", summary: "A folder of photos: as many inferences as will go.", kind: .throughput,
    iterations: 24),
]
