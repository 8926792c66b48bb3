import KelvinDevices
import KelvinGraph

typealias ReferenceTable = KernelTable<ReferenceInputs, [[Double]]>

/// Every operator's kernel: a function of its node's inputs.
let referenceKernels: ReferenceTable = {
  var table = ReferenceTable()
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
