import Eidetic
import EideticTesting

// In a test: the code under test loads with the shared pipeline, and nothing is sent.
let network = FakeNetwork()
network.respond(to: "https://example.org/a.png", with: .image(size: PixelSize(width: 64, height: 48)))
ImagePipeline.shared = .fake(over: network)

let image = try await ImagePipeline.shared.image(for: ImageRequest("https://example.org/a.png"))
precondition(image.size.width == 64 && network.requests.count == 1)
