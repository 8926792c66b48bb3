public import FoundationEssentials
import KelvinBasics
import KelvinMeasuring
import KelvinReport
import KelvinThermal

extension VideoRecord {
  /// The record as a JSON document in the format `kelvin-stream`: for each source its counts, latencies in seconds and
  /// tracks; the governor's steps; heat over time.
  public func json() throws -> Data { Data(try JSONText.encode(document, unspeakable: .text)) }

  private var document: JSONObject {
    [
      "format": "kelvin-stream", "version": 1, "sources": sources.map(\.document),
      "steps": steps.map { step -> JSONObject in
        [
          "time": step.at, "change": step.action.change, "cause": step.action.cause, "isReturn": step.action.isReturn,
          "effect": step.effect?.description,
        ]
      },
      "heat": heat.map { heat -> JSONObject in
        ["time": heat.at, "headroom": heat.headroom, "state": heat.state.name, "watts": heat.watts]
      },
    ]
  }
}

extension VideoRecord.Source {
  fileprivate var document: JSONObject {
    let counts = outcome?.counts
    return [
      "source": name, "isLive": isLive, "frames": counts?.pushed, "answered": answered, "dropped": counts?.dropped,
      "skipped": counts?.skipped, "tooLate": counts?.tooLate, "abandoned": counts?.abandoned, "late": late,
      "errors": errors, "framesPerSecond": rate,
      "latency": [
        "median": latency.quantile(0.5), "p95": latency.quantile(0.95), "p99": latency.quantile(0.99),
        "mean": latency.summary.mean, "longest": latency.summary.largest,
      ] as JSONObject,
      "tracks": tracks.values.sorted { $0.id < $1.id }.map { track -> JSONObject in
        [
          "id": track.id, "identifier": track.label, "first": track.first.inSeconds, "last": track.last.inSeconds,
          "frames": track.frameCount,
        ]
      },
      "seen": seen.entries.map { entry -> JSONObject in
        [
          "identifier": entry.label, "frames": entry.frameCount, "most": entry.most > 0 ? entry.most : nil,
          "share": entry.shares > 0 ? entry.shares / Double(max(seen.frameCount, 1)) : nil,
        ]
      },
      "otherTracks": otherTracks, "remarks": outcome?.remarks, "error": outcome?.error?.description,
    ]
  }
}
