internal import KelvinDevices

/// Every operator that has an OpenCL kernel.
let kernels: Kernels = {
  var table = Kernels()
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
