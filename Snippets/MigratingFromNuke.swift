import Eidetic
import EideticStore

// ImagePipeline { $0.dataCache = try DataCache(name: "photos"); $0.imageCache = ImageCache(costLimit: …) }
let pipeline = try ImagePipeline {
    $0.diskCache = try DiskCache(.init(directory: DiskCache.defaultDirectory(namespace: "photos")))
    $0.memoryLimit = .mebibytes(100)
}

// let task = pipeline.imageTask(with: request); for await event in task.events { … }
let task = pipeline.task(for: ImageRequest("https://example.org/a.jpg", options: .progressive))
for await case .progress(let progress) in task.events { print(progress.fraction ?? 0) }
print(try await task.image.size)

// ImageProcessing, with its identifier
struct Grey: ImageTransform {
    let key = "grey"
    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: pixels.size, alpha: .opaque) { index in
            let pixel = pixels[index % pixels.size.width, index / pixels.size.width]
            return SIMD4(SIMD3(repeating: pixel.y), 255)
        }
    }
}
