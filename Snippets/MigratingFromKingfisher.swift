import Eidetic

// KingfisherManager.shared.retrieveImage(with: url, options: [.processor(DownsamplingImageProcessor(size: size))])
let url = "https://example.org/a.jpg"
let small = ImageRequest(url, size: PixelSize(width: 300, height: 200))
let response = try await ImagePipeline.shared.response(for: small)
print("\(response.image.size) from \(response.source)")

// .onlyFromCache, .forceRefresh, .cacheMemoryOnly, .waitForCache, .downloadPriority(1)
let offline = ImageRequest(url, options: .fromCacheOnly)
let fresh = ImageRequest(url, priority: .high, options: [.fromLoaderOnly, .waitStoreCache])

// .alternativeSources([.network(mirror)]), Base64ImageDataProvider, LocalFileImageDataProvider, ImageDataProvider
let mirrored = ImageRequest(
    .firstOf([try FetchRequest(url: url), try FetchRequest(url: "https://mirror.example.org/a.jpg")])
)
// .lowDataMode(.network(small)): by the requested size and the measured speed
let sized = ImageRequest(
    .candidates([
        try ImageCandidate("https://example.org/a-400.jpg", size: PixelSize(width: 400, height: 300)),
        try ImageCandidate(url, size: PixelSize(width: 1600, height: 1200)),
    ])
)
let inline = ImageRequest("data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==")
let local = ImageRequest("file:///usr/share/pixmaps/debian-logo.png")
let chart = ImageRequest(.provider(name: "chart 7") { () throws(EideticError) in [] })

// .requestModifier: user-specific fields are a part of the request, so that its images are cached per user
var userImage = ImageRequest(url)
userImage.headers["Authorization"] = "Bearer 42"

// Fields of all requests; .redirectHandler, .retryStrategy(DelayRetryStrategy(maxRetryCount: 3))
let pipeline = ImagePipeline {
    $0.downloads.headers["X-Application"] = "Photos"
    $0.downloads.maximumRedirects = 3
    $0.downloads.alwaysRetries = true
}
for request in [offline, fresh, mirrored, sized, inline, local, chart, userImage] {
    print(pipeline.cachedImage(for: request) == nil)
}
