import FoundationEssentials
import Kelvin

// Usage: GeneratedClass MODEL IMAGE. Digits.swift is made by `kelvin generate Examples/Digits/Digits.mlpackage`.
let digits = try Digits(contentsOf: URL(filePath: CommandLine.arguments[1]))
let output = try digits.prediction(Digits.Input(imageAt: URL(filePath: CommandLine.arguments[2])))
print(output.classLabel, output.classLabel_probs[output.classLabel] ?? 0)
