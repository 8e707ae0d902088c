import Eidetic

// ImagePipeline { $0.dataCache = try DataCache(name: "photos"); $0.imageCache = ImageCache(costLimit: …) }
let pipeline = try ImagePipeline {
    $0.diskCache = try DiskCache(.init(directory: DiskCache.defaultDirectory(namespace: "photos")))
    $0.memoryLimit = .mebibytes(100)
    $0.freshness = .http()
}

// let task = pipeline.imageTask(with: request); for await event in task.events { … }
let request = ImageRequest("https://example.org/a.jpg", priority: .low, options: .progressive)
let task = pipeline.task(for: request)
task.priority = .high
for await case .progress(let progress) in task.events { print(progress.fraction ?? 0) }
print(try await task.response.trace)

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
var dark = request
dark.rendering = .init(size: PixelSize(width: 320, height: 240), transform: Darker())

// ImagePrefetcher(pipeline: pipeline, destination: .diskCache, maxConcurrentRequestCount: 2)
let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: .disk, maximumConcurrent: 2)
let group = prefetcher.prefetch([request, dark])
prefetcher.isPaused = true
prefetcher.isPaused = false
print(await group.finish().finished)
print(pipeline.statistics.prometheusText)
