import Eidetic
import EideticRedis

// A thumbnail of an image on another server, as each machine of a fleet makes it.
#if Redis
let tier = try RedisTier(RedisTier.Configuration(url: "redis://cache.internal:6379"))
ImagePipeline.shared = ImagePipeline {
    $0.sharedTier = tier
    // As long as the origin says; without this line an image is used for a week.
    $0.freshness = .http
}

func thumbnail(of url: String) async throws -> [UInt8] {
    let size = PixelSize(width: 320, height: 320)
    let image = try await ImagePipeline.shared.image(for: ImageRequest(url, size: size))
    return try ImageEncoder.encode(image, as: .jpeg, quality: 0.8)
}

let bytes = try await thumbnail(of: "https://example.org/a.jpg")
print("\(bytes.count) bytes;", ImagePipeline.shared.statistics.sharedHits, "images from the shared tier")
#endif
