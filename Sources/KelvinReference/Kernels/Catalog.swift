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
  table.addCompare()
  table.addConcat()
  table.addConvolution()
  table.addConvolutionTranspose()
  table.addCumulativeSum()
  table.addExpand()
  table.addGather()
  table.addGatherElements()
  table.addGatherND()
  table.addLayerNormalization()
  table.addLinear()
  table.addLocalResponseNormalization()
  table.addMatMul()
  table.addNonMaximumSuppression()
  table.addPad()
  table.addPool()
  table.addReduce()
  table.addReshape()
  table.addResize()
  table.addScatterElements()
  table.addScatterND()
  table.addSelect()
  table.addSlice()
  table.addSoftmax()
  table.addTopK()
  table.addTranspose()
  table.addUnary()
  return table
}()
