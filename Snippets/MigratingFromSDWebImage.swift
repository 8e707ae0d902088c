import Eidetic
import EideticFetch
import EideticStore

// SDWebImageManager.shared.loadImage(with: url, options: [.retryFailed], progress: …, completed: …)
var request = ImageRequest("https://example.org/a.jpg", options: [.retryFailed, .progressive])
let task = ImagePipeline.shared.load(request, preview: { print("so far: \($0.size)") }) { result in
    switch result {
    case .success(let response): print("\(response.image.size) from \(response.source)")
    case .failure(let error): print("\(error.code): \(error.message)")
    }
}
task.cancel()

// context[.imageThumbnailPixelSize], context[.imageTransformer], context[.imageForceDecodePolicy]
request.rendering = .init(size: PixelSize(width: 200, height: 200), contentMode: .fillCropped())
print(try await ImagePipeline.shared.image(for: request).size)

// SDWebImagePrefetcher.shared.prefetchURLs(urls, progress: …, completed: …)
let group = ImagePrefetcher().prefetch([request])
for await progress in group.progress { print("\(progress.finished) of \(progress.total), \(progress.failed) failed") }

// SDWebImageDownloaderConfig, SDImageCacheConfig, request modifier, cache key filter
let pipeline = try ImagePipeline {
    $0.downloads.maximumConcurrent = 3
    $0.downloads.headers = ["X-Application": "Photos"]
    var disk = DiskCache.Configuration(directory: DiskCache.defaultDirectory(namespace: "photos"))
    disk.maximumAge = .seconds(7 * 86_400)
    $0.diskCache = try DiskCache(disk)
    $0.memoryLimit = .mebibytes(100)
}
print(pipeline.cachedImage(for: request) == nil)
