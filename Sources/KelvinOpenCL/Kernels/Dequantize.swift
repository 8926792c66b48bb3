internal import KelvinGPU

extension OpenCLTarget { func dequantize(_ plan: QuantizationPlan) -> Call<KernelName> { scaling(plan, "dequantize") } }
