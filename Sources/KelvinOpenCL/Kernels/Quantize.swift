internal import KelvinGPU

extension OpenCLTarget { func quantize(_ plan: QuantizationPlan) -> Call<KernelName> { scaling(plan, "quantize") } }
