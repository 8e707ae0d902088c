import EideticCodecs
import EideticCore

extension Suite {
    /// Decoding pictures, whole and to the size of a thumbnail.
    static let decode = Suite(
        "decode",
        "decoding whole pictures against the bare libraries called from C, and to 400 pixels against other programs",
        arguments: [
            "file=PATH  a JPEG for the cases to a size, instead of the one made here",
            "eidetic=PATH  the program to compare with others; else the one beside this",
        ]
    ) { bench in
        let photograph = try bench.arguments["file"].map { try FileSystem().contents(of: $0) }
        let jpeg = try photograph ?? SyntheticPhotograph.jpeg()
        try await bench.wholePictures()
        try await bench.wholeJPEG(jpeg)
        try await bench.jpegToSize(jpeg)
        try await bench.programs(jpeg)
        try await bench.idleProgram()
    }
}
