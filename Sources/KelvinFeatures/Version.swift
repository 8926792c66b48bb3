/// The version of Kelvin, which is part of every cache key and report.
public let kelvinVersion = "0.2.0"
