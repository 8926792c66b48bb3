import KelvinBasics

extension SizeReport: Encodable {
  package func encode(to encoder: any Encoder) throws {
    let memory: JSONObject? = memory.map { ["afterLoad": $0.afterLoad, "whilePredicting": $0.whilePredicting] }
    let document: JSONObject = [
      "format": "kelvin-size", "version": 1, "model": model, "modelFormat": format, "modelVersion": formatVersion,
      "bytes": byteCount, "zipBytes": download?.zip, "zstdBytes": download?.zstd, "packBytes": self.memory?.packs,
      "memory": memory,
      "files": files.map { ["name": $0.name, "bytes": $0.byteCount] as JSONObject },
      "tensors": tensors.map { tensor in
        [
          "name": tensor.name, "shape": tensor.shape, "coding": tensor.coding.description, "bytes": tensor.byteCount,
          "file": tensor.file,
        ] as JSONObject
      },
      "rest": rest.map { ["name": $0.name, "file": $0.file, "bytes": $0.byteCount] as JSONObject },
      "copies": copies.map { ["form": $0.form.description, "bytes": $0.byteCount] as JSONObject },
    ]
    try document.encode(to: encoder)
  }
}
