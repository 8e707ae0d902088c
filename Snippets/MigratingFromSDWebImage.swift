import Eidetic

// SDWebImageManager.shared.loadImage(with: url, options: [.retryFailed], progress: …, completed: …)
let request = ImageRequest("https://example.org/a.jpg", options: [.retryFailed, .progressive])
let task = ImagePipeline.shared.load(
    request,
    preview: { image in print("so far: \(image.size)") },
    progress: { progress in print("\(progress.received) of \(progress.expected ?? 0)") }
) { result in
    switch result {
    case .success(let response): print("\(response.image.size) from \(response.source)")
    case .failure(let error): print("\(error.code): \(error.message)")
    }
}
task.cancel()

// context[.imageThumbnailPixelSize], context[.imageTransformer], context[.imageForceDecodePolicy]
var thumbnail = request
thumbnail.rendering = .init(size: PixelSize(width: 200, height: 200), contentMode: .fill)
let image = try await ImagePipeline.shared.image(for: thumbnail)
print(image.size)

// SDWebImagePrefetcher.shared.prefetchURLs(urls, progress: …, completed: …)
let group = ImagePrefetcher().prefetch([request, thumbnail])
for await progress in group.progress { print("\(progress.finished) of \(progress.total), \(progress.failed) failed") }

// SDWebImageDownloaderConfig, SDImageCacheConfig, request modifier, cache key filter
let pipeline = try ImagePipeline {
    $0.downloads.maximumConcurrent = 3
    $0.downloads.executionOrder = .lastInFirstOut
    $0.downloads.headers = ["X-Application": "Photos"]
    var disk = DiskCache.Configuration(directory: DiskCache.defaultDirectory(namespace: "photos"))
    disk.maximumAge = .seconds(7 * 86_400)
    disk.sizeLimit = .mebibytes(200)
    $0.diskCache = try DiskCache(disk)
    $0.memoryLimit = .mebibytes(100)
    $0.requestProcessors = [
        { request in
            var request = request
            request.ignoredQueryItems = ["signature"]
            return request
        }
    ]
}
print(pipeline.cachedImage(for: request) == nil)
