/// The version of Kelvin, part of every cache key and every report.
public let kelvinVersion = "0.1.0"
