import KelvinGPU

extension VulkanTarget { func softmax(_ lines: Lines) -> Call<VulkanProgram> { along(lines, "softmax", .float) } }
