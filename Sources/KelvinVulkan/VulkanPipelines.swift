import CKelvinShaders
import CKelvinSupport
import KelvinDevices
import KelvinGraph
import Synchronization

/// The key of a compute pipeline: a shader and its specialization constants, numbered from 0.
struct PipelineKey: Hashable, Sendable {
  /// The shader's name in `Shaders/variants.txt`.
  var shader: String
  /// Whether floats are stored as float16.
  var isHalf = false
  var operands = OperandPath.buffers
  var specializationConstants: [UInt32]
  /// The codes of its operands' formats (`OperandFormat`), if the shader takes them.
  var formats: [UInt32] = []
  /// Whether the pipeline is dispatched in slices, each with its own base group.
  var hasBase = false

  /// The row of `Shaders/variants.txt`.
  var variant: String { shader + (isHalf ? "_half" : "") }
  /// The name of the module.
  var module: String { variant + operands.suffix }
}

/// The pipelines of a device, each created once, and the driver's pipeline cache.
final class VulkanPipelines: @unchecked Sendable {
  /// Binding 0 is the storage buffer written; bindings 1 to 4 are operands. Push constants take 128 bytes.
  static let operandBindings = 4
  /// The specialization constant of the first operand's format, as numbered in `Shaders/operands.glsl`.
  private static let firstFormat: UInt32 = 21
  static let parameterByteCount = 128
  /// The embedded modules, by name.
  nonisolated(unsafe) static let embedded: [String: KelvinShader] = {
    var count = 0
    let rows = UnsafeBufferPointer(start: kelvin_spirv_modules(&count), count: count)
    return Dictionary(uniqueKeysWithValues: rows.map { (String(cString: $0.name), $0) })
  }()

  let setLayout: VkDescriptorSetLayout
  let layout: VkPipelineLayout
  let operands: OperandPath
  private let context: VulkanContext
  private let compilesLate: Bool
  private let state: DeviceLock<State>

  private struct State: @unchecked Sendable {
    var cache: VkPipelineCache?
    var modules: [String: VkShaderModule] = [:]
    var pipelines: [PipelineKey: VkPipeline] = [:]
  }

  init(_ context: VulkanContext, _ traits: VulkanTraits) throws(DeviceError) {
    self.context = context
    compilesLate = traits.compilesLate
    operands = traits.operands
    let (vk, device) = (context.vk, context.device)
    let bindings = (0...Self.operandBindings).map { index in
      VkDescriptorSetLayoutBinding(
        binding: UInt32(index),
        descriptorType: index == 0 ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : traits.operands.descriptor,
        descriptorCount: 1, stageFlags: VK_SHADER_STAGE_COMPUTE_BIT.rawValue, pImmutableSamplers: nil)
    }
    var setLayout: VkDescriptorSetLayout?
    var result = bindings.withUnsafeBufferPointer { bindings in
      var information = VkDescriptorSetLayoutCreateInfo()
      information.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO
      information.bindingCount = UInt32(bindings.count)
      information.pBindings = bindings.baseAddress
      return vk.vkCreateDescriptorSetLayout!(device, &information, nil, &setLayout)
    }
    try context.check(result, "vkCreateDescriptorSetLayout")
    var range = VkPushConstantRange(
      stageFlags: VK_SHADER_STAGE_COMPUTE_BIT.rawValue, offset: 0, size: UInt32(Self.parameterByteCount))
    var layout: VkPipelineLayout?
    result = withUnsafePointer(to: setLayout) { setLayout in
      withUnsafePointer(to: &range) { range in
        var information = VkPipelineLayoutCreateInfo()
        information.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO
        information.setLayoutCount = 1
        information.pSetLayouts = setLayout
        information.pushConstantRangeCount = 1
        information.pPushConstantRanges = range
        return vk.vkCreatePipelineLayout!(device, &information, nil, &layout)
      }
    }
    guard result == VK_SUCCESS, let layout, let setLayout else {
      vk.vkDestroyDescriptorSetLayout!(device, setLayout, nil)
      try context.check(result, "vkCreatePipelineLayout")
      throw context.error(.execution, "vkCreatePipelineLayout", "the driver returned no layout")
    }
    self.setLayout = setLayout
    self.layout = layout
    state = DeviceLock(State())
    try state.withLock(context.health) { (state: inout State) throws(DeviceError) in state.cache = try makeCache(nil) }
  }

  deinit {
    context.free { [context, state, layout, setLayout] in
      let (vk, device) = (context.vk, context.device)
      try? state.withLock(context.health) { (state) throws(DeviceError) in
        for pipeline in state.pipelines.values { vk.vkDestroyPipeline!(device, pipeline, nil) }
        for module in state.modules.values { vk.vkDestroyShaderModule!(device, module, nil) }
        vk.vkDestroyPipelineCache!(device, state.cache, nil)
      }
      vk.vkDestroyPipelineLayout!(device, layout, nil)
      vk.vkDestroyDescriptorSetLayout!(device, setLayout, nil)
    }
  }

  /// Returns the pipelines for `keys`, in order. Missing pipelines are created with the driver cache that `blobs` keeps
  /// from earlier processes.
  ///
  /// - Parameters:
  ///   - formats: for each key, the formats of the operands read.
  ///   - nodes: for each key, the node that needs the pipeline.
  func pipelines(
    for keys: [PipelineKey], reading formats: [[OperandFormat]], of nodes: [String], blobs: any BlobCache
  ) throws(DeviceError) -> [VulkanPipeline] {
    try state.withLock(context.health) { (state: inout State) throws(DeviceError) -> [VulkanPipeline] in
      var missing: [(key: PipelineKey, formats: [OperandFormat])] = []
      var seen = Set<PipelineKey>()
      for (key, formats) in zip(keys, formats) where state.pipelines[key] == nil && seen.insert(key).inserted {
        missing.append((key, formats))
      }
      let blobKey = PipelineBlob.key(context.properties)
      if !missing.isEmpty {
        let known = try DriverThread.pausing { () throws(DeviceError) in
          blobs.blob(blobKey).flatMap { PipelineBlob.payload($0, for: context.properties) }
        }
        if let known, let cache = try? makeCache(known) {
          var source: VkPipelineCache? = cache
          _ = context.vk.vkMergePipelineCaches!(context.device, state.cache, 1, &source)
          context.vk.vkDestroyPipelineCache!(context.device, cache, nil)
        }
        let users = Dictionary(zip(keys, nodes).map { ($0, [$1]) }, uniquingKeysWith: +)
        try make(missing, users, &state)
        if !(blobs is NoBlobCache), case let data = cacheData(state), data.count >= PipelineBlob.headerByteCount,
          data != known
        {
          try DriverThread.pausing { () throws(DeviceError) in
            PipelineBlob.wrapped(data, for: context.properties).withUnsafeBytes { blobs.store(blobKey, $0) }
          }
        }
      }
      return keys.compactMap { key in state.pipelines[key].map { VulkanPipeline(handle: $0) } }
    }
  }

  /// Creates pipelines, several at a time, each for the nodes that use it. Pipelines that were created are kept if
  /// another fails.
  private func make(
    _ missing: [(key: PipelineKey, formats: [OperandFormat])], _ users: [PipelineKey: [String]], _ state: inout State
  ) throws(DeviceError) {
    var recipes: [(key: PipelineKey, formats: [OperandFormat], module: VkShaderModule)] = []
    for (key, formats) in missing {
      do throws(DeviceError) { recipes.append((key, formats, try module(key.module, &state))) } catch {
        throw error.compiling(users[key] ?? [])
      }
    }
    let made = Mutex<[PipelineKey: VulkanPipeline]>([:])
    defer { for (key, pipeline) in made.withLock({ $0 }) { state.pipelines[key] = pipeline.handle } }
    nonisolated(unsafe) let (chosen, cache) = (recipes, state.cache)
    let rehearsal = compilesLate ? try PipelineWarmup(context, self) : nil
    try context.guardedEach("vkCreateComputePipelines", .compiling, chosen.count) { index throws(DeviceError) in
      let (key, formats, module) = chosen[index]
      do throws(DeviceError) {
        let pipeline = VulkanPipeline(handle: try self.makePipeline(key, module, cache))
        made.withLock { $0[key] = pipeline }
        try rehearsal?.rehearse(pipeline.handle, reading: formats)
      } catch { throw error.compiling(users[key] ?? []) }
    }
    try rehearsal?.finish()
  }

  private func makeCache(_ data: [UInt8]?) throws(DeviceError) -> VkPipelineCache {
    var cache: VkPipelineCache?
    let result = (data ?? []).withUnsafeBytes { data in
      var information = VkPipelineCacheCreateInfo()
      information.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO
      information.initialDataSize = data.count
      information.pInitialData = data.count > 0 ? data.baseAddress : nil
      return context.vk.vkCreatePipelineCache!(context.device, &information, nil, &cache)
    }
    try context.check(result, "vkCreatePipelineCache")
    guard let cache else { throw context.error(.execution, "vkCreatePipelineCache", "the driver returned no cache") }
    return cache
  }

  private func cacheData(_ state: State) -> [UInt8] {
    var count = 0
    let (vk, device) = (context.vk, context.device)
    guard vk.vkGetPipelineCacheData!(device, state.cache, &count, nil) == VK_SUCCESS, count > 0 else { return [] }
    var data = [UInt8](repeating: 0, count: count)
    guard vk.vkGetPipelineCacheData!(device, state.cache, &count, &data) == VK_SUCCESS else { return [] }
    return Array(data.prefix(count))
  }

  private func module(_ name: String, _ state: inout State) throws(DeviceError) -> VkShaderModule {
    if let module = state.modules[name] { return module }
    guard let row = Self.embedded[name] else {
      throw context.error(.compilation, "shader '\(name)'", "no shader has this name")
    }
    var module: VkShaderModule?
    let plain = row.bytes.withMemoryRebound(to: UInt32.self, capacity: row.count / 4) {
      Array(UnsafeBufferPointer(start: $0, count: row.count / 4))
    }
    let code = context.properties.preservesSpecialValues ? SpecialValueMode.added(to: plain) : plain
    let result = code.withUnsafeBufferPointer { words in
      var information = VkShaderModuleCreateInfo()
      information.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO
      information.codeSize = 4 * words.count
      information.pCode = words.baseAddress
      return context.vk.vkCreateShaderModule!(context.device, &information, nil, &module)
    }
    try context.check(result, "vkCreateShaderModule, shader '\(name)'", compiles: true)
    guard let module else { throw context.error(.compilation, "shader '\(name)'", "the driver returned no module") }
    state.modules[name] = module
    return module
  }

  /// - Throws: `.compilation` if the group size, which is the pipeline's first constant, exceeds the device's limit.
  private func checkGroup(_ key: PipelineKey) throws(DeviceError) {
    let limits = context.properties.limits
    let limit = min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize.0)
    guard let group = key.specializationConstants.first, group > limit else { return }
    throw context.error(
      .compilation, "pipeline '\(key.shader)'", "the device runs groups of \(limit) invocations, \(group) are needed")
  }

  private func makePipeline(
    _ key: PipelineKey, _ module: VkShaderModule, _ cache: VkPipelineCache?
  ) throws(DeviceError) -> VkPipeline {
    try checkGroup(key)
    let ids =
      key.specializationConstants.indices.map { UInt32($0) } + key.formats.indices.map { Self.firstFormat + UInt32($0) }
    let entries = ids.enumerated().map {
      VkSpecializationMapEntry(constantID: $1, offset: UInt32($0 * 4), size: 4)
    }
    var pipeline: VkPipeline?
    let result = entries.withUnsafeBufferPointer { entries in
      (key.specializationConstants + key.formats).withUnsafeBytes { specializationConstants in
        var specialization = VkSpecializationInfo(
          mapEntryCount: UInt32(entries.count), pMapEntries: entries.baseAddress,
          dataSize: specializationConstants.count,
          pData: specializationConstants.baseAddress)
        return withUnsafePointer(to: &specialization) { specialization in
          "main".withCString { name in
            var information = VkComputePipelineCreateInfo()
            information.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO
            information.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO
            information.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT
            information.stage.module = module
            information.stage.pName = name
            information.stage.pSpecializationInfo = specialization
            information.layout = layout
            if key.hasBase { information.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT.rawValue }
            return context.vk.vkCreateComputePipelines!(context.device, cache, 1, &information, nil, &pipeline)
          }
        }
      }
    }
    try context.check(result, "vkCreateComputePipelines, pipeline '\(key.shader)'", compiles: true)
    guard let pipeline else {
      throw context.error(.compilation, "pipeline '\(key.shader)'", "the driver returned none")
    }
    return pipeline
  }
}

/// A pipeline that is valid as long as the library that created it.
struct VulkanPipeline: Equatable, @unchecked Sendable {
  let handle: VkPipeline
}
