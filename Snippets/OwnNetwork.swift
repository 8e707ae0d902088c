import Eidetic

/// A network that reports each request, and leaves it to the usual one.
struct LoudNetwork: NetworkClient {
    let usual = Downloader()

    func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse {
        print("GET \(request.url)")
        return try await usual.response(to: request)
    }
}

let pipeline = ImagePipeline { $0.downloads.network = LoudNetwork() }
print(try await pipeline.image(for: ImageRequest("https://example.org/a.jpg")).size)
