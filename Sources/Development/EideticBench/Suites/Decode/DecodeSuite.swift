import EideticCodecs
import EideticCore

extension Suite {
    /// Decoding pictures, whole and to the size of a thumbnail.
    static let decode = Suite(
        "decode",
        summary:
            "decoding whole pictures against the bare libraries called from C, and to 400 pixels against other programs",
        arguments: [
            "file=PATH  a JPEG for the cases to a size, instead of the one made here",
            "only=TEXT  whole pictures of formats whose names contain it, and nothing else",
            "eidetic=PATH  the program to compare with others; else the one beside this",
        ]
    ) { bench in
        let photograph = try bench.arguments["file"].map { try FileSystem().contents(of: $0) }
        let jpeg = try photograph ?? SyntheticPhotograph.jpeg()
        // First, while memory is as it is in a program that begins: memory that other libraries left behind makes the
        // bare library's whole picture nearly twice as fast.
        try await bench.measureFullSizeJPEG(jpeg)
        if bench.arguments["only"] == nil { try await bench.measureJPEGThumbnail(jpeg) }
        try await bench.measureFullSizeFormats()
        guard bench.arguments["only"] == nil else { return }
        try await bench.measureThumbnailPrograms(jpeg)
        try await bench.measureIdleMemory()
    }
}
