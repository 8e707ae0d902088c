import Eidetic

let request = ImageRequest(CommandLine.arguments[1], size: PixelSize(width: 400, height: 300))
for await event in ImagePipeline.shared.task(for: request).events {
    switch event {
    case .progress(let progress): print("\(progress.received) of \(progress.expected ?? 0) bytes")
    case .preview(let image): print("\(image.size) pixels, not complete yet")
    case .cached(let response): print("\(response.image.size) pixels from the cache")
    case .finished(let response): print("\(response.image.size) pixels from \(response.source)")
    case .failed(let error): print("\(error.code): \(error.message)")
    }
}
