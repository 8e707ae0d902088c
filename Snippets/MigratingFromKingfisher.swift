import Eidetic

// KingfisherManager.shared.retrieveImage(with: url, options: [.processor(DownsamplingImageProcessor(size: size))])
let url = "https://example.org/a.jpg"
let small = ImageRequest(url, size: PixelSize(width: 300, height: 200), cachePolicy: .afterStorage)
print(try await ImagePipeline.shared.response(for: small).source)

// Base64ImageDataProvider, ImageDataProvider
let inline = ImageRequest("data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==")
let chart = ImageRequest(.provider(name: "chart 7") { () throws(EideticError) in [] })
for request in [inline, chart] { print(ImagePipeline.shared.cachedImage(for: request) == nil) }

// .requestModifier: user-specific fields are a part of the request, so that its images are cached per user
var userImage = ImageRequest(url)
userImage.headers["Authorization"] = "Bearer 42"
