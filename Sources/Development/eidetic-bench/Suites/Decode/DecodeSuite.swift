import EideticCodecs
import EideticCore

extension Suite {
    /// Decoding images at full size and to the size of a thumbnail.
    static let decode = Suite(
        "decode",
        summary:
            "decoding images, animations and arriving bytes against the bare libraries, and thumbnails against programs",
        arguments: [
            "file=PATH  a JPEG for the JPEG cases, instead of a synthetic one",
            "only=TEXT  runs only full-size cases whose names contain TEXT",
            "eidetic=PATH  the program to compare with others (default: the one beside this program)",
        ]
    ) { bench in
        let photograph = try bench.arguments["file"].map { try FileSystem().contents(of: $0) }
        let jpeg = try photograph ?? SyntheticPhotograph.jpeg()
        // This case runs first, with the memory of a fresh process. Memory that other libraries have freed makes the
        // bare library nearly twice as fast at full size.
        try await bench.measureFullSizeJPEG(jpeg)
        if bench.arguments["only"] == nil { try await bench.measureJPEGThumbnail(jpeg) }
        try await bench.measureAnimations()
        try await bench.measureArrivingImages()
        try await bench.measureFullSizeFormats()
        try await bench.measureGreyPixels(jpeg)
        try await bench.measureColourConversion()
        guard bench.arguments["only"] == nil else { return }
        try await bench.measureThumbnailPrograms(jpeg)
        try await bench.measureIdleMemory()
    }
}
