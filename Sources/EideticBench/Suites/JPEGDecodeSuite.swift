import CBareJPEG
import EideticCodecs
import EideticCore
import Glibc

extension Suite {
    /// Decoding a photograph's worth of JPEG, whole and to the size of a thumbnail.
    static let jpegDecode = Suite(
        "jpeg-decode",
        "decoding a 12-megapixel JPEG to RGBA, against the bare library called from C",
        arguments: ["file=PATH  a JPEG to decode instead of the one made here"]
    ) { bench in
        let bytes = try bench.arguments["file"].map { try FileSystem().contents(of: $0) } ?? SyntheticPhotograph.jpeg()
        try await bench.compare(
            Case("whole", .milliseconds, goal: .ratio(1.1)),
            with: "libjpeg-turbo",
            ours: { use(try ImageDecoder.decode(bytes)) },
            theirs: { decodeBare(bytes, denominator: 1) }
        )
        var options = DecodeOptions()
        options.size = PixelSize(width: 400, height: 400)
        try await bench.compare(
            // The library can halve only; ours goes on to the exact size.
            Case("to fit 400x400", .milliseconds, goal: .ratio(1.3)),
            with: "libjpeg-turbo at a quarter",
            ours: { use(try ImageDecoder.decode(bytes, options: options)) },
            theirs: { decodeBare(bytes, denominator: 4) }
        )
    }
}

/// Decodes as a C program does.
private func decodeBare(_ bytes: [UInt8], denominator: UInt32) {
    bytes.withUnsafeBufferPointer { free(eidetic_bare_jpeg_decode($0.baseAddress, $0.count, denominator)) }
}
