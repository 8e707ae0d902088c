import Eidetic

// KingfisherManager.shared.retrieveImage(with: url, options: [.processor(DownsamplingImageProcessor(size: size))])
let url = "https://example.org/a.jpg"
let small = try ImageRequest(url, size: PixelSize(width: 300, height: 200))
let response = try await ImagePipeline.shared.response(for: small)
print("\(response.image.size) from \(response.source)")

// .onlyFromCache, .forceRefresh, .cacheMemoryOnly, .waitForCache, .downloadPriority(1)
let offline = try ImageRequest(url, options: .fromCacheOnly)
let fresh = try ImageRequest(url, priority: .high, options: [.fromLoaderOnly, .waitStoreCache])

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
let inline = try ImageRequest("data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==")
let local = try ImageRequest("file:///usr/share/pixmaps/debian-logo.png")
let chart = ImageRequest(.provider(name: "chart 7") { () throws(EideticError) in [] })

// .requestModifier: user-specific fields are a part of the request, so that its images are cached per user
var authorized = try FetchRequest(url: url)
authorized.headers = ["Authorization": "Bearer 42"]
let userImage = ImageRequest(.remote(authorized))

// Fields of all requests; .redirectHandler, .retryStrategy(DelayRetryStrategy(maxRetryCount: 3))
var downloads = ImagePipeline.Configuration.standardDownloaderConfiguration
downloads.requestModifier = { request in
    var request = request
    request.headers = request.headers.merging(["X-Application": "Photos"])
    return request
}
downloads.maximumRedirects = 3
downloads.alwaysRetries = true
let pipeline = ImagePipeline(.init(downloader: Downloader(downloads)))
for request in [offline, fresh, mirrored, sized, inline, local, chart, userImage] {
    print(pipeline.cachedImage(for: request) == nil)
}
