/// All policies.
package let policies: [any Policy] = [
  LeastLatency(),
  OneShot(),
  MaximumThroughput(),
  Sustained(),
]
