import Eidetic
import EideticRedis

// Thumbnails of images on other servers, as each machine of a fleet makes them.
// usage: thumbnails redis://HOST:PORT URL …
#if Redis
func thumbnail(of url: String) async throws -> [UInt8] {
    let size = PixelSize(width: 320, height: 320)
    let image = try await ImagePipeline.shared.image(for: ImageRequest(url, size: size))
    return try image.encoded(as: .jpeg, quality: 0.8)
}

do {
    let server = CommandLine.arguments.dropFirst().first ?? "redis://localhost:6379"
    let tier = try RedisTier(RedisTier.Configuration(url: server))
    ImagePipeline.shared = ImagePipeline {
        $0.sharedTier = tier
        // As long as the origin says; without this line an image is used for a week.
        $0.freshness = .http
    }
    for url in CommandLine.arguments.dropFirst(2) {
        print("\(try await thumbnail(of: url).count) bytes: \(url)")
    }
    print(ImagePipeline.shared.statistics.sharedHits, "images from the shared tier")
} catch {
    print("thumbnails: \(error)")
}
#endif
