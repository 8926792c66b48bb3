import KelvinDevices
import KelvinGraph

typealias ReferenceTable = KernelTable<ReferenceInputs, [[Double]]>

/// Every operator's kernel: a function of its node's inputs.
let referenceKernels: ReferenceTable = {
  var table = ReferenceTable()
  table.addArgReduce()
  table.addBatchNormalization()
  table.addBinary()
  table.addBinaryInteger()
  table.addCast()
  table.addConcat()
  table.addConvolution()
  table.addConvolutionInteger()
  table.addDequantize()
  table.addExpand()
  table.addGather()
  table.addLinear()
  table.addMatMul()
  table.addMatMulInteger()
  table.addPad()
  table.addPool()
  table.addQuantize()
  table.addReduce()
  table.addReshape()
  table.addSlice()
  table.addSoftmax()
  table.addTranspose()
  table.addUnary()
  return table
}()
