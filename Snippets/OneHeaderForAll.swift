import Eidetic
import EideticFetch

// One header field for all requests of a pipeline, which everything uses that names no other.
ImagePipeline.shared = ImagePipeline { $0.downloads.headers["X-Application"] = "Photos" }

let image = try await ImagePipeline.shared.image(for: ImageRequest("https://example.org/a.jpg"))
print(image.size)
