import ArgumentParser

/// How a command speaks.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print one JSON document on standard output, and nothing else there.")
  var json = false

  @Flag(help: "Say more: every operation folded away, whole reasons, what the cache did.")
  var verbose = false
}
