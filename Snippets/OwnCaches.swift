import Eidetic
import EideticStore

// A pipeline that asks servers as a browser does, with 128 MiB in memory and 500 MiB on disk.
var disk = DiskCache.Configuration(directory: DiskCache.defaultDirectory(namespace: "photos"))
disk.sizeLimit = .mebibytes(500)
disk.maximumAge = .seconds(30 * 86_400)
ImagePipeline.shared = try ImagePipeline {
    $0.memoryLimit = .mebibytes(128)
    $0.diskCache = try DiskCache(disk)
    $0.freshness = .http
}

var request: ImageRequest = "https://example.org/a.jpg"
_ = try await ImagePipeline.shared.image(for: request)

// Shown at once from the cache, then confirmed by the server; events bring the new image if it has changed.
request.options = [.refreshCached]
for await event in ImagePipeline.shared.task(for: request).events {
    if case .finished(let response) = event { print(response.source, response.image.size) }
}

// One image in, out and gone.
let cache = ImagePipeline.shared.cache
print(try await cache.contains(ImageCache.Key(request)), disk.directory)
try await cache.remove(ImageCache.Key(request))
