import Eidetic

// Before the network is gone: to disk, at low priority; an image that is there is not asked for again.
let requests = ["https://example.org/a.jpg", "https://example.org/b.jpg"].map { ImageRequest($0) }
let group = ImagePrefetcher(destination: .disk).prefetch(requests) { _, error in
    if let error { print(error.message) }
}
let progress = await group.finish()
print("\(progress.total - progress.failed) of \(progress.total) are on disk")

// Without a network: no request is sent, and an image that is missing is `cacheMiss`.
for var request in requests {
    request.cachePolicy = .cachedOnly
    do {
        print(try await ImagePipeline.shared.image(for: request).size)
    } catch {
        print(error.code)
    }
}
