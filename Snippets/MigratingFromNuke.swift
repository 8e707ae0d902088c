import Eidetic

// ImagePipeline { $0.dataCache = try DataCache(name: "photos"); $0.imageCache = ImageCache(costLimit: …) }
var configuration = ImagePipeline.Configuration(
    diskCache: try DiskCache(.init(directory: DiskCache.defaultDirectory(namespace: "photos")))
)
configuration.memoryLimit = .mebibytes(100)
configuration.freshness = .http()
let pipeline = ImagePipeline(configuration)

// let task = pipeline.imageTask(with: request); for await event in task.events { … }
let request = try ImageRequest("https://example.org/a.jpg", priority: .low, options: .progressive)
for await event in pipeline.events(for: request) {
    switch event {
    case .progress(let progress): print(progress.fraction ?? 0)
    case .preview(let image): print("preview \(image.size)")
    case .cached(let response): print("cached \(response.image.size)")
    case .finished(let response): print("\(response.image.size) from \(response.source)\n\(response.trace)")
    case .failed(let error): print(error)
    }
}

// ImageProcessing, with its identifier
struct Darker: ImageTransform {
    let key = "darker"

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: pixels.size, alpha: pixels.alpha) { target, _ throws(EideticError) in
            pixels.withUnsafeBytes { source in
                for index in source.indices { target[index] = index % 4 == 3 ? source[index] : source[index] / 2 }
            }
        }
    }
}
let dark = request.with(rendering: .init(size: PixelSize(width: 320, height: 240), transform: Darker()))

// ImagePrefetcher(pipeline: pipeline, destination: .diskCache, maxConcurrentRequestCount: 2)
let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: .disk, maximumConcurrent: 2)
let group = prefetcher.prefetch([request, dark])
prefetcher.isPaused = true
prefetcher.isPaused = false
print(await group.finish().finished)
print(pipeline.statistics.prometheusText)
