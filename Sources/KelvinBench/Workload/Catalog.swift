/// The named workloads. `Profiles/workloads/` contains the same ones as files to start from.
package let workloads: [Workload] = [
  Workload(
    name: "one-shot",
    summary: "One photo, then more: cold and cached starts, the first answer, and the warm 90th percentile.",
    kind: .oneShot),
  Workload(
    name: "stream", summary: "A camera: frames arrive at a steady rate, and an old frame is worth nothing.",
    kind: .stream, coldStarts: 1, starts: 6, iterations: 24, warmSeconds: 1),
  Workload(
    name: "throughput", summary: "A folder of photos: as many inferences as will go, several in flight.",
    kind: .throughput, coldStarts: 1, starts: 6, iterations: 24, warmSeconds: 1),
  Workload(
    name: "tokens", summary: "A decoder: the time to the first token, then tokens a second as the text grows.",
    kind: .tokens, coldStarts: 1, starts: 6),
]
