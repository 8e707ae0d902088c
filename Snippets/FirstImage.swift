import Eidetic

// The image of a URL, decoded to the size at which it is shown: from memory, from disk, or from its server.
var request = ImageRequest("https://example.org/a.jpg", size: PixelSize(width: 400, height: 300))
request.priority = .high
do {
    let response = try await ImagePipeline.shared.response(for: request)
    print("\(response.image.size) pixels from \(response.source)")
} catch {
    // Typed: `kind` is for a switch, `message` is one line for people.
    print("\(error.code): \(error.message)")
}

// Memory only, at once and without a task: for the first frame of a view.
if let image = ImagePipeline.shared.cachedImage(for: request) { print("\(image.size) pixels are in memory") }
