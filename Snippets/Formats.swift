import Eidetic
import EideticCodecs

// What this build reads and writes: a format whose library is missing on the machine is not in the list.
print("reads", ImageDecoder.supportedFormats, "writes", ImageEncoder.supportedFormats)

// Limits for images of strangers, checked before memory is allocated, and the sandbox for all of them.
let pipeline = ImagePipeline {
    $0.decodeLimits.pixels = 50_000_000
    $0.decodeLimits.duration = .seconds(5)
    $0.decodePolicy = .sandboxed
}
let request = ImageRequest("https://example.org/a.heic", size: PixelSize(width: 800, height: 800))
do {
    let response = try await pipeline.response(for: request)
    print(response.image.format, response.image.sourceSize)
    let bytes = try response.image.encoded(as: .webp, quality: 0.8)
    print("\(bytes.count) bytes of WebP")
} catch {
    print("\(error.code): \(error.message)")
}
