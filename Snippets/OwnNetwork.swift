import Eidetic
import EideticFetch

struct LoudNetwork: NetworkClient {
    let usual = Downloader()
    func response(to request: FetchRequest) async throws(EideticError) -> FetchResponse {
        print("GET \(request.url)")
        return try await usual.response(to: request)
    }
}
ImagePipeline.shared = ImagePipeline { $0.downloads.network = LoudNetwork() }
