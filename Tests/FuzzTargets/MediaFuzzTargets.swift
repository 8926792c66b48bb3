import FoundationEssentials
import KelvinImages
import KelvinVideo

extension FuzzTarget {
  /// Pixels that a frame may have here.
  private static let mostPixels = 1 << 10

  static let media = [
    FuzzTarget("y4m", VideoError.self, longest: 2048, seeds: Seeds.rawStreams) { bytes in
      var rest = bytes[...]
      let stream = try Y4MFrames(
        { target in
          let count = min(target.count, rest.count)
          target.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
          rest = rest.dropFirst(count)
          return count
        }, name: "stream", rate: 30, maximumPixels: mostPixels)
      while let frame = try stream.next() { _ = frame.image.bytes }
    },
    FuzzTarget("ffprobe", VideoError.self, .json, longest: 4096, seeds: Seeds.probes) { bytes in
      _ = try MediaProbe(json: Data(bytes), name: "clip.mp4")
    },
    FuzzTarget("frametimes", VideoError.self, longest: 512, seeds: Seeds.frameTimes) { bytes in
      for line in bytes.split(separator: 0x0A) {
        guard let base = TimeBase(1, 12_800), let ticks = FrameTimeLine(line)?.timestamp else { continue }
        // A time is at most half an attosecond from the timestamp.
        precondition(base.ticks(base.time(ticks % 1_000_000_000)) == ticks % 1_000_000_000)
        _ = TimeBase(.max, 1)?.time(ticks)
        _ = base.time(ticks)
      }
    },
  ]
}

extension Seeds {
  static var rawStreams: [[UInt8]] {
    let layouts = [
      ("C420jpeg", 27), ("C422", 33), ("C444", 45), ("C444alpha XCOLORRANGE=FULL", 60), ("C411", 27), ("Cmono", 15),
      ("It A1:1", 27),
    ]
    return layouts.map { layout, count in
      let frame = Array("FRAME\n".utf8) + (0..<count).map { UInt8($0) }
      return Array("YUV4MPEG2 W5 H3 F30000:1001 \(layout)\n".utf8) + frame + frame
    }
  }

  static var probes: [[UInt8]] {
    texts(
      #"""
      {"program_version":{"version":"5.1.9-0+deb12u1"},"streams":[{"index":0,"codec_name":"aac","codec_type":"audio",
      "time_base":"1/48000","disposition":{"attached_pic":0}},{"index":1,"codec_name":"h264","codec_type":"video",
      "width":640,"height":360,"sample_aspect_ratio":"1:1","pix_fmt":"yuv420p","color_range":"tv","color_space":"bt709",
      "r_frame_rate":"30000/1001","avg_frame_rate":"30000/1001","time_base":"1/30000","duration":"39.854749",
      "nb_frames":"1189","field_order":"progressive","disposition":{"attached_pic":0},"side_data_list":[{"displaymatrix":
      "\n00000000:            0       65536           0\n00000001:       -65536           0           0\n00000002:            0           0  1073741824\n"
      }]}],"format":{"start_time":"-0.021333","duration":"39.854749"}}
      """#)
  }

  static var frameTimes: [[UInt8]] {
    texts(
      "frame:0    pts:0       pts_time:0\nkelvin=1\nframe:1    pts:-512     pts_time:0.04\n",
      "frame:2  pts:NOPTS pts_time:NOPTS\nframe:3  pts:9223372036854775807\n")
  }
}
