import KelvinDevices

/// The operators the processor computes.
let cpuKernels: KernelTable<CPUContext, CPUKernel> = {
  var table = KernelTable<CPUContext, CPUKernel>()
  table.addArgReduce()
  table.addBatchNormalization()
  table.addBinary()
  table.addCast()
  table.addConcat()
  table.addConvolution()
  table.addExpand()
  table.addGather()
  table.addLinear()
  table.addMatMul()
  table.addPad()
  table.addPool()
  table.addReduce()
  table.addReshape()
  table.addSlice()
  table.addSoftmax()
  table.addTranspose()
  table.addUnary()
  return table
}()
