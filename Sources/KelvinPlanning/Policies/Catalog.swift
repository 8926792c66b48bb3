/// Every policy, one line each.
package let policies: [any Policy] = [
  LeastLatency(),
  OneShot(),
  MostFrames(),
  Sustained(),
]
